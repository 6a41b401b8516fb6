#!/usr/bin/env python3
"""Writes the curves of a results folder as TensorBoard event files; standard library only.

    scripts/export_tensorboard.py results/mini --out runs/tensorboard
    tensorboard --logdir runs/tensorboard

One run per finished cell, named by its id. Event files hold no times here (wall time 0), since the
curves have none: equal results give equal bytes.
"""

import argparse
import struct
import sys
from pathlib import Path

from phasor_results import finished_cells


def crc32c_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = (byte >> 1) ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


CRC_TABLE = crc32c_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = CRC_TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def masked_crc32c(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def record(data):
    """A TFRecord: length, its checksum, data, its checksum."""
    length = struct.pack("<Q", len(data))
    return (length + struct.pack("<I", masked_crc32c(length)) + data +
            struct.pack("<I", masked_crc32c(data)))


def varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def bytes_field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


WALL_TIME = varint(1 << 3 | 1) + struct.pack("<d", 0.0)  # Event.wall_time


def version_event():
    return WALL_TIME + bytes_field(3, b"brain.Event:2")


def scalar_event(step, tag, value):
    try:
        number = struct.pack("<f", value)
    except OverflowError:  # beyond float32, finite as it is
        number = struct.pack("<f", float("inf") if value > 0 else float("-inf"))
    summary = bytes_field(1, tag.encode()) + varint(2 << 3 | 5) + number
    return WALL_TIME + varint(2 << 3) + varint(step) + bytes_field(5, bytes_field(1, summary))


def events(cell):
    """(step, tag, value) of everything the curve holds, by step."""
    out = []
    steps = cell.values("train", "step")
    for field in ("loss", "accuracy", "grad_norm", "lr"):
        out += zip(steps, [f"train/{field}"] * len(steps), cell.values("train", field))
    per_epoch = cell.steps_per_epoch()
    for series, prefix in (("test", "test"), ("epochs", "train_epoch")):
        places = [round(epoch * per_epoch) for epoch in cell.values(series, "epoch")]
        for field in ("loss", "accuracy"):
            out += zip(places, [f"{prefix}/{field}"] * len(places), cell.values(series, field))
    return sorted(out, key=lambda event: (event[0], event[1]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder", type=Path, help="results folder, e.g. results/mini")
    parser.add_argument("--out", type=Path, required=True, help="folder for TensorBoard's --logdir")
    options = parser.parse_args()
    if not (options.folder / "cells").is_dir():
        parser.error(f"{options.folder} is no results folder: it holds no cells")
    cells, problems = finished_cells(options.folder)
    for problem in problems:
        print(f"left out: {problem}", file=sys.stderr)
    for cell in cells:
        folder = options.out / cell.id
        folder.mkdir(parents=True, exist_ok=True)
        data = record(version_event()) + b"".join(record(scalar_event(*e)) for e in events(cell))
        (folder / "events.out.tfevents.0000000000.phasor").write_bytes(data)
    print(f"{len(cells)} runs in {options.out}")


if __name__ == "__main__":
    main()
