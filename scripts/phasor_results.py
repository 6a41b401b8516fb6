"""Reads a results folder of phasor-train; standard library only."""

import json
import math
from pathlib import Path

KINDS = {"nan": math.nan, "+inf": math.inf, "-inf": -math.inf}


class Cell:
    """A finished cell: its cell.json (`record`) and curve.json (`curve`)."""

    def __init__(self, folder):
        self.record = json.loads((folder / "cell.json").read_text(encoding="utf-8"))
        self.curve = json.loads((folder / "curve.json").read_text(encoding="utf-8"))
        configuration = self.record["configuration"]
        self.id = self.record["id"]
        self.label = self.record["label"]
        self.norm = configuration["norm"]["name"]
        self.lr = configuration["train"]["lr"]
        self.batch_size = configuration["train"]["batch_size"]
        self.seed = configuration["train"]["seed"]
        self.verdict = self.record["result"]["verdict"]["kind"]
        self.synthetic = bool(self.record["data"].get("synthetic"))
        prefix = f"-bs{self.batch_size}-s{self.seed}"
        self.variant = self.label.partition(prefix)[2].lstrip("-")
        self._nonfinite = {(n["series"], n["index"], n["field"]): KINDS[n["kind"]]
                           for n in self.curve.get("nonfinite", [])}

    def values(self, series, field):
        """An array of the curve; a number that was not finite is nan, inf or -inf again."""
        return [self._nonfinite.get((series, i, field), math.nan) if value is None else value
                for i, value in enumerate(self.curve[series][field])]

    def steps_per_epoch(self):
        """Steps of an epoch, from what the data set and the configuration say."""
        data = self.record["configuration"].get("data", {})
        images = min(self.record["data"]["train_images"], data.get("train_limit") or math.inf)
        steps = images / self.batch_size
        return max(1, math.floor(steps) if data.get("drop_last") else math.ceil(steps))


def sweep_order(root):
    """The place of each cell in sweep.json, by id; empty where that is missing or damaged."""
    try:
        sweep = json.loads((Path(root) / "sweep.json").read_text(encoding="utf-8"))
        return {cell["id"]: place for place, cell in enumerate(sweep["cells"])}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def finished_cells(root):
    """The finished cells of the folder, in the order of the sweep, then of their ids; and a line
    for each that is not there, unfinished or damaged."""
    cells, problems = [], []
    order = sweep_order(root)
    found = {p.name: p for p in (Path(root) / "cells").iterdir() if p.is_dir()}
    for name in sorted(order.keys() | found.keys(), key=lambda n: (order.get(n, math.inf), n)):
        if name not in found:
            problems.append(f"{name}: not run yet")
            continue
        folder = found[name]
        try:
            state = json.loads((folder / "cell.json").read_text(encoding="utf-8")).get("state")
            if state != "done":
                problems.append(f"{folder.name}: {state}")
                continue
            cells.append(Cell(folder))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            problems.append(f"{folder.name}: missing or damaged ({type(error).__name__}: {error})")
    return cells, problems
