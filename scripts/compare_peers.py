#!/usr/bin/env python3
"""phasor against PyTorch, interleaved in one run; called by compare_peers.sh.

For each (arch, norm, batch size): PyTorch's best float32 setting and its best bfloat16 setting are
found by screening (peer_torch.py), then kept alive and idle while rounds alternate between
`phasor-bench step --json` and one window of each. A round gives a ratio; the report states the
median of the ratios and their quartiles, with all versions.
"""

import argparse
import contextlib
import dataclasses
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import peer_torch

DTYPES = ("float32", "bfloat16")


def bench_step(bench, setting, threads, extra):
    """One run of phasor-bench: (the entry of `steps` for this cell, the whole answer)."""
    command = [bench, "step", "--json", "--arch", setting.arch, "--norm", setting.norm,
               "--batch-size", str(setting.batch_size), "--threads", str(threads), *extra]
    run = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if run.returncode != 0:
        raise SystemExit(f"compare_peers: {shlex.join(command)} ended with exit code "
                         f"{run.returncode}:\n{run.stderr[-2000:]}")
    answer = json.loads(run.stdout)
    wanted = (setting.arch, setting.norm, setting.batch_size, threads)
    steps = [s for s in answer["steps"]
             if (s["arch"], s["norm"], s["batch_size"], s["threads"]) == wanted]
    if len(steps) != 1:
        raise SystemExit(f"compare_peers: {shlex.join(command)} gave {len(steps)} entries for "
                         f"this cell, expected one")
    return steps[0], answer


def compare_cell(by_dtype, options, workers):
    """Rounds of one cell; by_dtype: {dtype: settings to screen}."""
    screened = {dtype: peer_torch.screen(settings, options, workers)
                for dtype, settings in by_dtype.items()}
    best = {dtype: found[0][1] for dtype, found in screened.items()}
    first = next(iter(best.values()))
    bench = [options.bench, first, options.threads, options.bench_args]
    bench_step(*bench)  # warm-up: pages of the program and of its data
    ours, peaks, peers = [], [], {dtype: [] for dtype in best}
    answer = None
    with contextlib.ExitStack() as stack:
        running = {dtype: stack.enter_context(workers(s)) for dtype, s in best.items()}
        for turn in range(options.rounds):
            order = ["phasor", *running]
            for who in order[turn % len(order):] + order[:turn % len(order)]:
                if who == "phasor":
                    step, answer = bench_step(*bench)
                    ours.append(step)
                    peaks.append(answer["peak_gflops"])
                else:
                    peers[who].append(running[who].window(options.window)["images_per_s"])
            print(f"{first.arch} {first.norm} bs {first.batch_size}, round {turn + 1} of "
                  f"{options.rounds}: phasor {ours[-1]['images_per_s']:.1f} images/s, " +
                  ", ".join(f"{d} {v[-1]:.1f}" for d, v in peers.items()), file=sys.stderr)
    rates = [step["images_per_s"] for step in ours]
    return {
        "arch": first.arch, "norm": first.norm, "batch_size": first.batch_size,
        "phasor": {"images_per_s": peer_torch.summary(rates),
                   "peak_fraction": peer_torch.summary([step["peak_fraction"] for step in ours]),
                   "peak_gflops": statistics.median(peaks), "conv": ours[-1].get("conv"),
                   "windows": rates},
        "peers": {dtype: {"setting": dataclasses.asdict(best[dtype]),
                          "images_per_s": peer_torch.summary(values),
                          "ratio": peer_torch.summary([a / b for a, b in zip(rates, values)]),
                          "windows": values,
                          "screening": [{**dataclasses.asdict(s), "images_per_s": v}
                                        for v, s in screened[dtype]]}
                  for dtype, values in peers.items()},
        "bench": {key: value for key, value in answer.items() if key != "steps"},
    }


def describe(setting):
    processes, threads = setting["split"].split("x")
    return (f"{setting['mode']}, {setting['layout'].replace('_', '-')}, {setting['formulation']}, "
            f"{processes} x {threads} thread{'s' if threads != '1' else ''}")


def markdown(result):
    """The table that people read."""
    def figure(values, unit=""):
        return f"{values['median']:.3g}{unit} ({values['low']:.3g} to {values['high']:.3g})"

    def rate(values):
        return f"{values['median']:.0f}"

    versions, machine = result["versions"], result["machine"]
    lines = [
        "# Training speed against PyTorch", "",
        f"PyTorch {versions['torch']} ({versions['cpu_capability']}), Python {machine['python']}; "
        f"{machine['cpu']}, {machine['cores']} cores; {machine['system']}.",
        f"phasor float32 with {result['threads']} threads; {result['rounds']} interleaved rounds; "
        "images/s are medians, ratios are medians of the rounds' ratios with their quartiles. "
        "Each peer runs in its fastest setting.", "",
        f"Command: `{result['command']}`", ""]
    if result["quick"]:
        lines += ["**A quick look: short windows, few settings. Not a measurement.**", ""]
    lines += ["| network | norm | batch | phasor, images/s | share of the FMA peak | PyTorch | "
              "images/s | phasor is faster by | its fastest setting |",
              "|---|---|---|---|---|---|---|---|---|"]
    for cell in result["cells"]:
        ours = cell["phasor"]
        for dtype, peer in cell["peers"].items():
            lines.append(
                f"| {cell['arch']} | {cell['norm']} | {cell['batch_size']} | "
                f"{rate(ours['images_per_s'])} | {100 * ours['peak_fraction']['median']:.0f}% | "
                f"{dtype} | {rate(peer['images_per_s'])} | {figure(peer['ratio'], 'x')} | "
                f"{describe(peer['setting'])} |")
    return "\n".join(lines) + "\n"


def compare(options, workers, versions):
    groups = {}
    for settings in peer_torch.cells(options):
        first = settings[0]
        key = (first.arch, first.norm, first.batch_size)
        groups.setdefault(key, {})[first.dtype] = settings
    result = {"command": options.command, "machine": peer_torch.machine(), "versions": versions,
              "quick": options.quick, "rounds": options.rounds, "window_s": options.window,
              "threads": options.threads, "cells": []}
    for by_dtype in groups.values():
        result["cells"].append(compare_cell(by_dtype, options, workers))
        write(options.out, result)  # after each cell: a long run that is cut short keeps the rest
    return result


def write(stem, result):
    stem.parent.mkdir(parents=True, exist_ok=True)
    for suffix, text in ((".json", json.dumps(result, indent=1, allow_nan=False) + "\n"),
                         (".md", markdown(result))):
        temporary = stem.with_name(stem.name + suffix + ".tmp")
        temporary.write_text(text)
        temporary.replace(stem.with_name(stem.name + suffix))


# ---------------------------------------------------------------------------------------------
# The self-test: the whole path with a pretended phasor-bench and pretended PyTorch processes.

FAKE_BENCH = """#!/bin/sh
while [ $# -gt 0 ]; do
  case $1 in --arch) arch=$2;; --norm) norm=$2;; --batch-size) size=$2;; --threads) t=$2;; esac
  shift
done
echo '{"peak_gflops": 400, "steps": [{"arch": "'$arch'", "norm": "'$norm'", "batch_size": '$size',
  "threads": '$t', "conv": "auto", "images_per_s": 1500, "gflop_per_image": 0.244,
  "peak_fraction": 0.915}]}'
"""


class FakeWorkers:
    """Answers like peer_torch.Workers: compiled bfloat16 fastest; one setting does not run."""

    def __init__(self, setting):
        if setting.formulation == "unbound":
            raise RuntimeError(f"{setting.label()} failed (pretended)")
        self.rate = {"float32": 250, "bfloat16": 500}[setting.dtype]
        self.rate *= 2 if setting.mode == "compile" and setting.layout == "channels_last" else 1

    def window(self, seconds):
        return {"images_per_s": self.rate, "faults_per_step": 0, "resident_mb": 1, "loss": "4.6"}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


def dry_run(options):
    with tempfile.TemporaryDirectory() as folder:
        bench = Path(folder) / "bench with blank"
        bench.write_text(FAKE_BENCH)
        bench.chmod(0o755)
        options.bench, options.out = str(bench), Path(folder) / "results" / "dry"
        options.arch, options.norm, options.batch_size = ["resnet20"], ["mrsnorm"], [128, 32]
        compare(options, FakeWorkers, {"torch": "pretended", "cpu_capability": "pretended"})
        result = json.loads(options.out.with_name("dry.json").read_text())
        table = options.out.with_name("dry.md").read_text()
    sys.stdout.write(table)
    assert [cell["batch_size"] for cell in result["cells"]] == [128, 32]
    for cell in result["cells"]:
        assert cell["phasor"]["peak_fraction"]["median"] == 0.915
        assert cell["phasor"]["images_per_s"]["windows"] == options.rounds
        for dtype, ratio in (("float32", 3.0), ("bfloat16", 1.5)):
            peer = cell["peers"][dtype]
            assert peer["ratio"]["median"] == ratio, (dtype, peer["ratio"])
            assert (peer["setting"]["mode"], peer["setting"]["layout"]) == (
                "compile", "channels_last")
            assert all(s["formulation"] != "unbound" for s in peer["screening"])
    assert "| resnet20 | mrsnorm | 128 | 1500 | 92% | float32 | 500 | 3x (3 to 3) |" in table
    print("compare_peers: dry run passed")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    peer_torch.add_options(parser)
    parser.add_argument("--bench", default="build/bin/phasor-bench")
    parser.add_argument("--bench-args", type=shlex.split, default=[],
                        help='further arguments for phasor-bench step, e.g. "--conv direct"')
    parser.add_argument("--threads", type=int, default=2, help="threads of phasor-bench (2)")
    parser.add_argument("--rounds", type=int, help="interleaved rounds (9; quick 3)")
    parser.add_argument("--out", type=Path, help="results/bench/NAME, without ending")
    parser.add_argument("--dry-run", action="store_true", help="test this script on made-up speeds")
    options = peer_torch.complete(parser.parse_args())
    if options.rounds is None:
        options.rounds = 3 if options.quick else 9
    options.command = os.environ.get("PHASOR_COMMAND") or shlex.join(sys.argv)
    if options.dry_run:
        options.quick, options.layout = False, peer_torch.CHOICES["layout"]
        return dry_run(options)
    if options.out is None:
        parser.error("--out is missing")
    if not os.access(options.bench, os.X_OK):
        parser.error(f"{options.bench} is not there; scripts/build.sh builds it")
    sys.stdout.write(markdown(compare(options, peer_torch.Workers, peer_torch.torch_versions())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
