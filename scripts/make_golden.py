#!/usr/bin/env python3
"""Ten training steps of resnet8 in PyTorch, as goldens for phasor's parity test.

    scripts/make_golden.py --data DIR [--out tests/golden/resnet8.json]

DIR holds train.bin in CIFAR-100's layout: the synthetic set of its default seed, as written by
`phasor-train make-data DIR`. Step k uses records 32k .. 32k+31 in file order, not augmented.
Needs PyTorch and NumPy (scripts/requirements-peer.txt), only to make the file, never to test.

Both sides compute the initial parameters, so that none are stored. With h = FNV-1a 64 of the
parameter's name (offset 14695981039346656037, prime 1099511628211) and j the row-major index in
PyTorch's layout (OIHW), all modulo 2^64:

    x = h + (j + 1) * 0x9E3779B97F4A7C15                      (SplitMix64, its finaliser)
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB
    x = x ^ (x >> 31)
    u = (2 * (x >> 11) + 1 - 2^53) / 2^53                      exact in double, in (-1, 1)

    convolution [O,I,k,k]     u * sqrt(6 / (k * k * O))        a uniform of variance 2 / (k k O)
    norm weight, norm bias    1 + u / 8,  u / 8
    head weight and bias      u / 8                            +-1 / sqrt(64)

computed in double and rounded to float32 (which float64 runs then widen: both start alike).

Format of the file (all numbers are the float64 run's unless they stand under `float32`):

    about, versions, formula        texts
    arch, classes, steps, batch_size, lr, momentum, weight_decay, eps, wd_on_norm   the settings
    records, data_sha256            how many leading records of train.bin are used; their SHA-256
    initial_checks[]                {name, index, value}: some initial parameters (float32 values)
    runs[]                          one for each norm and axes:
      norm, axes, parameters        names as in phasor's configuration; the number of parameters
      loss[10]                      mean cross-entropy of step k, before its update
      grad_norm[10]                 L2 norm over all gradients of step k, before weight decay
      correct[10]                   how many of the 32 images had the largest logit at their label
      parameter_sum[11], parameter_squares[11]   over all parameters: initially, after each step
      momentum_squares[10]          over all momentum buffers after each step
      first_gradients{}             L2 norm of each parameter's gradient in step 0
      float32 {loss, grad_norm}     PyTorch's own float32 run, free running: for information
"""

import argparse
import hashlib
import json
import math
import platform
import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

from torch_nets import ResNet

ARCH, CLASSES, STEPS, BATCH = "resnet8", 100, 10, 32
LR, MOMENTUM, WEIGHT_DECAY, EPS = 0.1, 0.9, 5e-4, 1e-5
RECORD = 3074
MEAN, STD = (0.5071, 0.4865, 0.4409), (0.2673, 0.2564, 0.2762)
FORMULA = "see scripts/make_golden.py: SplitMix64 of (FNV-1a 64 of the name, index)"


class FormulaNorm(nn.Module):
    """A norm by its definition, on [N,C,H,W]; statistics over C at each pixel, or over C, H, W."""

    def __init__(self, name, axes, channels):
        super().__init__()
        self.name = name
        self.dims = (1,) if axes == "channel" else (1, 2, 3)
        self.weight = nn.Parameter(torch.empty(channels // 2 if name == "mrsnorm" else channels))
        if name == "layernorm":
            self.bias = nn.Parameter(torch.empty(channels))

    def forward(self, x):
        per_channel = (1, -1, 1, 1)
        if self.name == "layernorm":
            centred = x - x.mean(dim=self.dims, keepdim=True)
            variance = centred.square().mean(dim=self.dims, keepdim=True)
            out = centred / torch.sqrt(variance + EPS)
            return out * self.weight.view(per_channel) + self.bias.view(per_channel)
        if self.name == "rmsnorm":
            rms = torch.sqrt(x.square().mean(dim=self.dims, keepdim=True) + EPS)
            return x / rms * self.weight.view(per_channel)
        # MRSNorm: adjacent channels are phasors; S is the mean of their magnitudes.
        squares = x.square()
        magnitude = torch.sqrt(squares[:, 0::2] + squares[:, 1::2] + EPS)
        scale = magnitude.mean(dim=self.dims, keepdim=True)
        return x / scale * self.weight.repeat_interleave(2).view(per_channel)


def fnv1a(text):
    value = 14695981039346656037
    for byte in text.encode():
        value = (value ^ byte) * 1099511628211 % 2**64
    return value


def unit(name, count):
    """u of the first `count` elements of parameter `name` (see the top), as float64."""
    x = np.uint64(fnv1a(name)) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(
        0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    x = x ^ (x >> np.uint64(31))
    return (2 * (x >> np.uint64(11)).astype(np.int64) + 1 - 2**53) * 2.0**-53


def initial(name, shape):
    """The parameter's initial values as float32."""
    u = unit(name, math.prod(shape))
    if len(shape) == 4:
        u = u * np.sqrt(6.0 / (shape[2] * shape[3] * shape[0]))
    elif name.startswith("fc.") or name.endswith(".bias"):
        u = u / 8
    else:
        u = 1 + u / 8
    return torch.from_numpy(u.astype(np.float32)).reshape(shape)


def batches(records, dtype):
    """[(images [32,3,32,32], labels [32])], normalised in `dtype` with the decimal constants."""
    table = np.frombuffer(records, np.uint8).reshape(STEPS, BATCH, RECORD)
    labels = torch.from_numpy(table[:, :, 1].astype(np.int64))
    pixels = torch.from_numpy(table[:, :, 2:].copy()).reshape(STEPS, BATCH, 3, 32, 32).to(dtype)
    mean = torch.tensor(MEAN, dtype=dtype).view(3, 1, 1)
    std = torch.tensor(STD, dtype=dtype).view(3, 1, 1)
    images = (pixels / 255 - mean) / std
    return list(zip(images, labels))


def squares(tensors):
    return math.fsum(t.double().square().sum().item() for t in tensors)


def train(norm, axes, records, dtype):
    net = ResNet(ARCH, lambda channels: FormulaNorm(norm, axes, channels), CLASSES).to(dtype)
    with torch.no_grad():
        for name, parameter in net.named_parameters():
            parameter.copy_(initial(name, parameter.shape))
    parameters = list(net.parameters())
    optimiser = torch.optim.SGD(parameters, lr=LR, momentum=MOMENTUM, weight_decay=WEIGHT_DECAY)
    run = {"norm": norm, "axes": axes, "parameters": sum(p.numel() for p in parameters),
           "loss": [], "grad_norm": [], "correct": [],
           "parameter_sum": [math.fsum(p.double().sum().item() for p in parameters)],
           "parameter_squares": [squares(parameters)], "momentum_squares": []}
    for step, (images, labels) in enumerate(batches(records, dtype)):
        optimiser.zero_grad(set_to_none=True)
        logits = net(images)
        loss = F.cross_entropy(logits, labels)
        loss.backward()
        run["loss"].append(loss.item())
        run["grad_norm"].append(math.sqrt(squares(p.grad for p in parameters)))
        run["correct"].append(int((logits.argmax(1) == labels).sum()))
        if step == 0:
            run["first_gradients"] = {name: math.sqrt(squares([p.grad]))
                                      for name, p in net.named_parameters()}
        optimiser.step()
        run["parameter_sum"].append(math.fsum(p.double().sum().item() for p in parameters))
        run["parameter_squares"].append(squares(parameters))
        run["momentum_squares"].append(
            squares(optimiser.state[p]["momentum_buffer"] for p in parameters))
    return run


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--data", required=True, type=Path, help="folder with train.bin")
    parser.add_argument("--out", type=Path,
                        default=Path(__file__).resolve().parent.parent / "tests/golden/resnet8.json")
    options = parser.parse_args()
    torch.set_num_threads(1)  # the order of additions must not depend on the machine's cores
    try:
        with open(options.data / "train.bin", "rb") as file:
            records = file.read(STEPS * BATCH * RECORD)
    except OSError as error:
        sys.exit(f"make_golden: {error}; `phasor-train make-data` writes the synthetic set")
    if len(records) != STEPS * BATCH * RECORD:
        sys.exit(f"make_golden: {options.data}/train.bin holds under {STEPS * BATCH} records")

    runs = []
    for norm in ("layernorm", "rmsnorm", "mrsnorm"):
        for axes in ("channel", "sample"):
            run = train(norm, axes, records, torch.float64)
            single = train(norm, axes, records, torch.float32)
            run["float32"] = {key: single[key] for key in ("loss", "grad_norm")}
            drift = max(abs(a - b) for a, b in zip(run["loss"], single["loss"]))
            print(f"{norm:9} {axes:7} loss {run['loss'][0]:.6f} -> {run['loss'][-1]:.6f}, "
                  f"float32 drifts {drift:.1e}")
            runs.append(run)
    checks = [{"name": name, "index": index, "value": float(initial(name, shape).flatten()[index])}
              for name, shape, index in (("conv1.weight", (16, 3, 3, 3), 0),
                                         ("layer2.0.shortcut.conv.weight", (32, 16, 1, 1), 511),
                                         ("layer3.0.norm2.weight", (64,), 1),
                                         ("norm1.bias", (16,), 15),
                                         ("fc.weight", (100, 64), 6399))]
    golden = {
        "about": "ten steps of resnet8 in PyTorch on leading records of the synthetic set; "
                 "made and described by scripts/make_golden.py",
        "versions": {"torch": torch.__version__, "numpy": np.__version__,
                     "python": platform.python_version()},
        "formula": FORMULA, "arch": ARCH, "classes": CLASSES, "steps": STEPS, "batch_size": BATCH,
        "lr": LR, "momentum": MOMENTUM, "weight_decay": WEIGHT_DECAY, "eps": EPS,
        "wd_on_norm": True, "records": STEPS * BATCH,
        "data_sha256": hashlib.sha256(records).hexdigest(),
        "initial_checks": checks, "runs": runs}
    options.out.write_text(json.dumps(golden, indent=1, allow_nan=False) + "\n")
    print(f"wrote {options.out}")


if __name__ == "__main__":
    main()
