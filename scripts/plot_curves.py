#!/usr/bin/env python3
"""Figures for publication from a results folder: training loss, accuracy, gradient norm, verdicts.

    scripts/plot_curves.py results/mini --out figures --formats pdf,svg,png

Needs matplotlib. One panel per learning rate and batch size, one line per norm (and variant):
the mean over seeds with a band from the least to the greatest. Where a seed has no finite number
the mean has none either: no diverged seed is dropped.
"""

import argparse
import math
import sys
from collections import defaultdict
from pathlib import Path

from phasor_results import finished_cells

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams.update({"svg.hashsalt": "phasor", "font.size": 8, "axes.titlesize": 8,
                            "axes.spines.top": False, "axes.spines.right": False})
import matplotlib.pyplot as plt  # noqa: E402  (after the choice of backend)

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#B0498A", "#8A6D00", "#3C9BD1", "#000000", "#7A7A7A")
DASHES = ("-", "--", ":", "-.")
VERDICTS = {"trained": ("#1F6FB2", "white"), "stalled": ("#F2E6A0", "black"),
            "diverged": ("#E8963C", "black"), "nonfinite": ("#6B1420", "white")}
UNKNOWN = ("#CCCCCC", "black")
BINS = 100


def thinned(x, y):
    """Means over at most BINS equal parts; a part with a number that is not finite is nan."""
    if len(x) <= BINS:
        return x, [value if math.isfinite(value) else math.nan for value in y]
    size = math.ceil(len(x) / BINS)
    parts = [slice(i, i + size) for i in range(0, len(x), size)]
    means = [sum(y[p]) / len(y[p]) for p in parts]
    return ([sum(x[p]) / len(x[p]) for p in parts],
            [mean if math.isfinite(mean) else math.nan for mean in means])


def curve(cell, series, field):
    if series == "train":
        per_epoch = cell.steps_per_epoch()
        x = [step / per_epoch for step in cell.values("train", "step")]
        return thinned(x, cell.values("train", field))
    return thinned(cell.values(series, "epoch"), cell.values(series, field))


def over_seeds(curves):
    """x, mean, least, greatest where every seed has a value; nan elsewhere."""
    places = defaultdict(list)
    for x, y in curves:
        for place, value in zip(x, y):
            places[place].append(value)
    x = sorted(places)
    whole = [places[p] if len(places[p]) == len(curves) else [math.nan] for p in x]
    mean = [sum(values) / len(values) for values in whole]
    return (x, mean, [m if math.isnan(m) else min(v) for m, v in zip(mean, whole)],
            [m if math.isnan(m) else max(v) for m, v in zip(mean, whole)])


def in_order(values):
    return list(dict.fromkeys(values))


def line_name(cell):
    return f"{cell.norm} {cell.variant}".strip()


def seeds_text(cells, name):
    """"n = 3", or "n = 1 to 3" where panels differ."""
    counts = defaultdict(int)
    for cell in cells:
        if line_name(cell) == name:
            counts[cell.lr, cell.batch_size] += 1
    least, most = min(counts.values()), max(counts.values())
    return f"n = {least}" if least == most else f"n = {least} to {most}"


def plot_curves(cells, names, series, field, label, log):
    rates = sorted(in_order(cell.lr for cell in cells))
    sizes = sorted(in_order(cell.batch_size for cell in cells))
    figure, axes = plt.subplots(len(rates), len(sizes), squeeze=False, sharex=True, sharey=True,
                                figsize=(2.2 * len(sizes) + 0.6, 1.6 * len(rates) + 0.7))
    handles = {}
    for row, lr in enumerate(rates):
        for column, size in enumerate(sizes):
            panel = axes[row][column]
            panel.set_title(f"lr {lr:g}, batch size {size}")
            for number, name in enumerate(names):
                chosen = [cell for cell in cells
                          if (cell.lr, cell.batch_size, line_name(cell)) == (lr, size, name)]
                if not chosen:
                    continue
                x, mean, low, high = over_seeds([curve(cell, series, field) for cell in chosen])
                style = {"color": COLOURS[number % len(COLOURS)]}
                handles[name], = panel.plot(x, mean, DASHES[number % len(DASHES)], linewidth=1.1,
                                            label=f"{name} ({seeds_text(cells, name)})", **style)
                if len(chosen) > 1:
                    panel.fill_between(x, low, high, alpha=0.18, linewidth=0, **style)
            if not panel.lines:
                panel.text(0.5, 0.5, "no result", transform=panel.transAxes, ha="center")
            if log:
                panel.set_yscale("log")
                low, high = panel.get_ylim()
                if high < 30 * low:  # too few powers of ten for labels at those alone
                    panel.yaxis.set_minor_formatter("{x:g}")
                    panel.yaxis.set_major_formatter("{x:g}")
    for panel in axes[-1]:
        panel.set_xlabel("epoch")
    for row in axes:
        row[0].set_ylabel(label)
    figure.legend(handles=list(handles.values()), loc="upper center", ncol=4, frameon=False)
    figure.tight_layout(rect=(0, 0, 1, 0.94))
    return figure


def plot_verdicts(cells, names):
    rates = sorted(in_order(cell.lr for cell in cells))
    sizes = sorted(in_order(cell.batch_size for cell in cells))
    figure, axes = plt.subplots(1, len(names), squeeze=False, sharey=True,
                                figsize=(0.9 * len(sizes) * len(names) + 0.8,
                                         0.6 * len(rates) + 0.9))
    for panel, name in zip(axes[0], names):
        panel.set_title(name)
        for row, lr in enumerate(rates):
            for column, size in enumerate(sizes):
                chosen = [cell.verdict for cell in cells
                          if (cell.lr, cell.batch_size, line_name(cell)) == (lr, size, name)]
                width = 0.96 / max(1, len(chosen))
                for i, verdict in enumerate(chosen):
                    colour = VERDICTS.get(verdict, UNKNOWN)[0]
                    panel.add_patch(plt.Rectangle((column - 0.48 + i * width, row - 0.46), width,
                                                  0.92, color=colour, linewidth=0))
                same = len(set(chosen)) == 1
                text = "no result"
                if chosen:
                    text = chosen[0] if same else f"{chosen.count('trained')}/{len(chosen)} trained"
                plate = {"facecolor": "white", "alpha": 0.9, "linewidth": 0, "pad": 1.5}
                panel.text(column, row, text, ha="center", va="center", fontsize=6.5,
                           color=VERDICTS.get(chosen[0], UNKNOWN)[1] if same else "black",
                           bbox=plate if chosen and not same else None)
        panel.set_xlim(-0.5, len(sizes) - 0.5)
        panel.set_ylim(len(rates) - 0.5, -0.5)
        panel.set_xticks(range(len(sizes)), [str(size) for size in sizes])
        panel.set_xlabel("batch size")
    axes[0][0].set_yticks(range(len(rates)), [f"lr {lr:g}" for lr in rates])
    figure.tight_layout()
    return figure


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder", type=Path, help="results folder, e.g. results/mini")
    parser.add_argument("--out", type=Path, required=True, help="folder for the figures")
    parser.add_argument("--formats", default="pdf,svg,png", help="default: pdf,svg,png")
    options = parser.parse_args()
    if not (options.folder / "cells").is_dir():
        parser.error(f"{options.folder} is no results folder: it holds no cells")
    cells, problems = finished_cells(options.folder)
    for problem in problems:
        print(f"left out: {problem}", file=sys.stderr)
    if not cells:
        raise SystemExit("plot_curves: no finished cell in " + str(options.folder))
    names = in_order(line_name(cell) for cell in cells)
    figures = {
        "loss": plot_curves(cells, names, "train", "loss", "training loss", True),
        "train_accuracy": plot_curves(cells, names, "epochs", "accuracy", "training acc.", False),
        "test_accuracy": plot_curves(cells, names, "test", "accuracy", "test accuracy", False),
        "grad_norm": plot_curves(cells, names, "train", "grad_norm", "gradient norm", True),
        "verdicts": plot_verdicts(cells, names),
    }
    options.out.mkdir(parents=True, exist_ok=True)
    synthetic = any(cell.synthetic for cell in cells)
    undated = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}
    for name, figure in figures.items():
        if synthetic:
            figure.text(0.01, 0.005, "synthetic data", fontsize=6, color="#666666")
        for kind in options.formats.split(","):
            figure.savefig(options.out / f"{name}.{kind}", dpi=200, metadata=undated.get(kind))
        plt.close(figure)
    print(f"{len(figures)} figures of {len(cells)} cells in {options.out}")


if __name__ == "__main__":
    main()
