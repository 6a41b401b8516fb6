#!/usr/bin/env python3
"""Training speed of PyTorch on phasor's networks, in the settings in which PyTorch is fastest.

    scripts/peer_torch.py [--quick] [--arch ...] [--norm ...] [--batch-size ...] [--mode ...]
                          [--layout ...] [--split ...] [--dtype ...] [--out FILE]

A *cell* is (arch, norm, batch size, dtype); a *setting* is a way to run it: eager or compiled,
contiguous or channels-last, one process of two threads (1x2) or two pinned processes of one thread
(2x1, summed), and the formulation of the norm (peer_norms.py). float32, or under bfloat16 autocast.

What is counted: forward, backward and SGD (lr .1, momentum .9, weight decay 5e-4) on normalised
images that lie in memory; augmentation is outside. Denormals are flushed. The allocator keeps freed
memory (MALLOC_*), and variables that cap OpenBLAS are removed. Each setting runs in processes of
its own: five warm-up steps, then windows of whole steps.
First every setting of a cell is tried alone (`screening`); then the best ones stay alive together
and take turns (`final`), and the figure is the median of a setting's windows with its quartiles.
Prints progress on stderr, JSON on stdout or to --out.
"""

import argparse
import contextlib
import dataclasses
import itertools
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WARM_UP_STEPS = 5
BATCHES = 4  # different batches in memory that the steps cycle through
CHOICES = {
    "arch": ["resnet20", "resnet18"],
    "norm": ["layernorm", "rmsnorm", "mrsnorm"],
    "mode": ["eager", "compile"],
    "layout": ["contiguous", "channels_last"],
    "split": ["1x2", "2x1"],
    "dtype": ["float32", "bfloat16"],
}
BATCH_SIZES = {"resnet18": [64]}  # others: the batch size of the paper's middle and both its sides
FORMULATIONS = {
    "layernorm": ["layer_norm"],
    "rmsnorm": ["rms_norm", "composed"],
    "mrsnorm": ["strided", "pairs", "unbound"],
}


@dataclasses.dataclass(frozen=True)
class Setting:
    arch: str
    norm: str
    batch_size: int
    dtype: str
    mode: str = "eager"
    layout: str = "contiguous"
    split: str = "1x2"
    formulation: str = ""

    def label(self):
        processes, threads = self.split.split("x")
        return (f"{self.arch} {self.norm} bs {self.batch_size} {self.dtype}: {self.mode}, "
                f"{self.layout}, {self.formulation}, {processes} process(es) x {threads} thread(s)")


# ---------------------------------------------------------------------------------------------
# The worker: one process that trains. Reads "window SECONDS" lines, answers each with JSON.


def train_step(setting):
    """A function that makes one training step and returns the loss."""
    import torch
    import torch.nn.functional as F

    import peer_norms
    from torch_nets import ResNet

    torch.set_num_threads(int(setting.split.split("x")[1]))
    torch.set_flush_denormal(True)
    torch.manual_seed(0)
    layout = (torch.channels_last if setting.layout == "channels_last"
              else torch.contiguous_format)
    net = ResNet(setting.arch, peer_norms.FORMULATIONS[setting.norm][setting.formulation])
    net = net.to(memory_format=layout)
    for module in net.modules():
        if isinstance(module, torch.nn.Conv2d):
            torch.nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
    data = [(torch.randn(setting.batch_size, 3, 32, 32).to(memory_format=layout),
             torch.randint(0, 100, (setting.batch_size,))) for _ in range(BATCHES)]
    optimiser = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4,
                                fused=True)

    def loss_of(images, labels):
        with torch.autocast("cpu", torch.bfloat16, enabled=setting.dtype == "bfloat16"):
            return F.cross_entropy(net(images), labels)

    if setting.mode == "compile":
        loss_of = torch.compile(loss_of)
    turn = itertools.cycle(data)

    def step():
        optimiser.zero_grad(set_to_none=True)
        loss = loss_of(*next(turn))
        loss.backward()
        optimiser.step()
        return loss

    return step


def work(setting, cpus):
    """Body of a worker process."""
    import resource

    os.sched_setaffinity(0, cpus)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print must not mix with the answers
    step = train_step(setting)
    for _ in range(WARM_UP_STEPS):
        loss = float(step())
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        length = float(line.split()[1])
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        steps, begin = 0, time.perf_counter()
        while True:
            loss = step()
            steps += 1
            seconds = time.perf_counter() - begin
            if seconds >= length:
                break
        usage = resource.getrusage(resource.RUSAGE_SELF)
        print(json.dumps({"images": steps * setting.batch_size, "seconds": seconds,
                          "faults_per_step": (usage.ru_minflt - faults) / steps,
                          "resident_mb": usage.ru_maxrss / 1024, "loss": repr(float(loss))}),
              file=answers, flush=True)


class Workers:
    """The processes of one setting, idle between windows."""

    def __init__(self, setting):
        self.setting = setting
        processes, threads = (int(n) for n in setting.split.split("x"))
        cpus = sorted(os.sched_getaffinity(0))
        if processes * threads > len(cpus):
            raise RuntimeError(f"{setting.split} needs {processes * threads} cores, "
                               f"{len(cpus)} may be used")
        environment = {key: value for key, value in os.environ.items()
                       if not key.startswith("OPENBLAS_")}
        environment.update(
            OMP_NUM_THREADS=str(threads), OMP_PROC_BIND="close", OMP_PLACES="cores",
            MALLOC_MMAP_THRESHOLD_="1073741824", MALLOC_TRIM_THRESHOLD_="1073741824",
            MALLOC_TOP_PAD_="67108864",
            MALLOC_ARENA_MAX="1",  # the backward thread's own arena could not hold large blocks
            PYTHONDONTWRITEBYTECODE="1")
        self.processes = []
        self.messages = tempfile.TemporaryFile("w+")
        try:
            # One after the other: the second process finds the first one's compiled code cached.
            for index in range(processes):
                job = {"setting": dataclasses.asdict(setting),
                       "cpus": cpus[index * threads:(index + 1) * threads]}
                self.processes.append(subprocess.Popen(
                    [sys.executable, os.path.abspath(__file__), "--worker", json.dumps(job)],
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.messages, text=True,
                    env=environment))
                self._answer(self.processes[-1])
        except BaseException:
            self.close()
            raise

    def _answer(self, process):
        line = process.stdout.readline()
        if not line:
            self.messages.seek(0)
            raise RuntimeError(f"{self.setting.label()} failed:\n{self.messages.read()[-2000:]}")
        return line

    def window(self, seconds):
        """Trains for about `seconds`; images per second of all processes together, and more."""
        for process in self.processes:
            process.stdin.write(f"window {seconds}\n")
            process.stdin.flush()
        answers = [json.loads(self._answer(process)) for process in self.processes]
        return {"images_per_s": sum(a["images"] / a["seconds"] for a in answers),
                "faults_per_step": max(a["faults_per_step"] for a in answers),
                "resident_mb": sum(a["resident_mb"] for a in answers),
                "loss": answers[0]["loss"]}

    def close(self):
        for process in self.processes:
            process.stdin.close()
        for process in self.processes:
            process.wait()
            process.stdout.close()
        self.messages.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


# ---------------------------------------------------------------------------------------------
# The parent: which settings, in which order, and what they gave.


def summary(values):
    """Median and quartiles; `spread` is the distance of the quartiles over the median."""
    values = sorted(values)
    median = statistics.median(values)
    low, high = median, median
    if len(values) > 1:
        low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return {"median": median, "low": low, "high": high, "spread": (high - low) / median,
            "windows": len(values)}


def cells(options):
    """[[settings of one cell]] that the options select."""
    result = []
    for arch, norm, dtype in itertools.product(options.arch, options.norm, options.dtype):
        sizes = options.batch_size or BATCH_SIZES.get(arch, [32, 64, 128])
        for size in sizes:
            result.append([
                Setting(arch, norm, size, dtype, mode, layout, split, formulation)
                for mode, layout, split, formulation in itertools.product(
                    options.mode, options.layout, options.split, FORMULATIONS[norm])])
    return result


def screen(settings, options, workers=Workers):
    """Each setting alone; [(images/s, setting)], best first. A setting that fails is reported."""
    found = []
    for setting in settings:
        try:
            with workers(setting) as running:
                windows = [running.window(options.window) for _ in range(options.screen_windows)]
        except RuntimeError as error:
            print(f"peer_torch: {error}", file=sys.stderr)
            continue
        best = statistics.median(w["images_per_s"] for w in windows)
        found.append((best, setting))
        print(f"{setting.label()}: {best:.1f} images/s, "
              f"{windows[-1]['faults_per_step']:.0f} page faults a step", file=sys.stderr)
    if not found:
        raise SystemExit("peer_torch: no setting of this cell runs; see the messages above")
    return sorted(found, key=lambda pair: -pair[0])


def finalists(found, options):
    return [setting for _, setting in found[:options.finalists]]


def measure_cell(settings, options):
    found = screen(settings, options)
    with contextlib.ExitStack() as stack:
        running = [stack.enter_context(Workers(s)) for s in finalists(found, options)]
        windows = [[] for _ in running]
        for turn in range(options.windows):
            for index in range(len(running)):
                index = (index + turn) % len(running)
                windows[index].append(running[index].window(options.window))
    final = [{**dataclasses.asdict(r.setting),
              "images_per_s": summary([w["images_per_s"] for w in list_]),
              "faults_per_step": statistics.median(w["faults_per_step"] for w in list_),
              "resident_mb": list_[-1]["resident_mb"], "last_loss": list_[-1]["loss"]}
             for r, list_ in zip(running, windows)]
    final.sort(key=lambda entry: -entry["images_per_s"]["median"])
    first = settings[0]
    return {"arch": first.arch, "norm": first.norm, "batch_size": first.batch_size,
            "dtype": first.dtype, "best": final[0], "final": final,
            "screening": [{**dataclasses.asdict(s), "images_per_s": v} for v, s in found]}


def machine():
    model = "unknown"
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    return {"cpu": model, "cores": len(os.sched_getaffinity(0)), "system": platform.platform(),
            "python": platform.python_version()}


def torch_versions():
    import torch

    return {"torch": torch.__version__, "cpu_capability": torch.backends.cpu.get_cpu_capability(),
            "onednn": torch.backends.mkldnn.is_available()}


def add_options(parser):
    for name, choices in CHOICES.items():
        parser.add_argument(f"--{name}", nargs="+", choices=choices, default=choices)
    parser.add_argument("--batch-size", nargs="+", type=int,
                        help="default: 32 64 128, resnet18 64")
    parser.add_argument("--quick", action="store_true",
                        help="short windows, channels-last only: a look, not a measurement")
    parser.add_argument("--window", type=float, help="seconds of a window (2; quick .5)")
    parser.add_argument("--windows", type=int, help="windows of each finalist (30; quick 3)")
    parser.add_argument("--screen-windows", type=int, help="windows while screening (3; quick 1)")
    parser.add_argument("--finalists", type=int, help="settings of a cell that take turns (2)")


def complete(options):
    """Fills in what depends on --quick."""
    if options.quick:
        options.layout = [x for x in options.layout if x == "channels_last"] or options.layout
    for name, full, quick in (("window", 2.0, 0.5), ("windows", 30, 3), ("screen_windows", 3, 1),
                              ("finalists", 2, 1)):
        if getattr(options, name) is None:
            setattr(options, name, quick if options.quick else full)
    return options


def main():
    if sys.argv[1:2] == ["--worker"]:
        job = json.loads(sys.argv[2])
        return work(Setting(**job["setting"]), job["cpus"])
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    add_options(parser)
    parser.add_argument("--out", type=Path, help="write the JSON here instead of to stdout")
    options = complete(parser.parse_args())
    result = {"machine": machine(), "versions": torch_versions(), "quick": options.quick,
              "window_s": options.window,
              "cells": [measure_cell(settings, options) for settings in cells(options)]}
    text = json.dumps(result, indent=1, allow_nan=False) + "\n"
    if options.out:
        options.out.write_text(text)
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
