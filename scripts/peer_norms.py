"""Norm layers for the speed comparison: each norm in the formulations that PyTorch users write.

All take [N,C,H,W], contiguous or channels-last, and normalise over C at each pixel. Which one is
fastest depends on layout, compiler and version, so peer_torch.py tries them all.
"""

import torch
from torch import nn
import torch.nn.functional as F

EPS = 1e-5


class Norm(nn.Module):
    """Parameters of a norm; subclasses are its formulations."""

    def __init__(self, channels):
        super().__init__()
        self.channels = channels
        self.weight = nn.Parameter(torch.ones(channels))


class LayerNorm(Norm):
    """F.layer_norm on the NHWC view."""

    def __init__(self, channels):
        super().__init__(channels)
        self.bias = nn.Parameter(torch.zeros(channels))

    def forward(self, x):
        out = F.layer_norm(x.permute(0, 2, 3, 1), (self.channels,), self.weight, self.bias, EPS)
        return out.permute(0, 3, 1, 2)


class RmsNorm(Norm):
    """F.rms_norm on the NHWC view."""

    def forward(self, x):
        out = F.rms_norm(x.permute(0, 2, 3, 1), (self.channels,), self.weight, EPS)
        return out.permute(0, 3, 1, 2)


class RmsComposed(Norm):
    """Three elementwise passes and a mean, in the tensor's own layout."""

    def forward(self, x):
        scale = torch.rsqrt(x.square().mean(dim=1, keepdim=True) + EPS)
        return x * scale * self.weight.view(-1, 1, 1)


class Mrs(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.pairs = channels // 2
        self.weight = nn.Parameter(torch.ones(self.pairs))


class MrsStrided(Mrs):
    """Pair sums from strided slices of the squares; one scale for each pixel."""

    def forward(self, x):
        squares = x.square()
        magnitude = torch.sqrt(squares[:, 0::2] + squares[:, 1::2] + EPS)
        scale = magnitude.mean(dim=1, keepdim=True).reciprocal()
        return x * scale * self.weight.repeat_interleave(2).view(-1, 1, 1)


class MrsPairs(Mrs):
    """Pairs as a last axis of the NHWC view."""

    def forward(self, x):
        z = x.permute(0, 2, 3, 1).unflatten(-1, (self.pairs, 2))
        scale = torch.sqrt(z.square().sum(-1) + EPS).mean(-1, keepdim=True).reciprocal()
        return (z * (scale * self.weight).unsqueeze(-1)).flatten(-2).permute(0, 3, 1, 2)


class MrsUnbound(Mrs):
    """Both halves of the pairs as tensors of their own, interleaved again at the end."""

    def forward(self, x):
        a, b = x.permute(0, 2, 3, 1).unflatten(-1, (self.pairs, 2)).unbind(-1)
        scale = torch.sqrt(a * a + b * b + EPS).mean(-1, keepdim=True).reciprocal() * self.weight
        return torch.stack((a * scale, b * scale), -1).flatten(-2).permute(0, 3, 1, 2)


FORMULATIONS = {
    "layernorm": {"layer_norm": LayerNorm},
    "rmsnorm": {"rms_norm": RmsNorm, "composed": RmsComposed},
    "mrsnorm": {"strided": MrsStrided, "pairs": MrsPairs, "unbound": MrsUnbound},
}


def check():
    """Every formulation against the definition in double, values and gradients."""
    torch.manual_seed(0)
    for norm, formulations in FORMULATIONS.items():
        for name, build in formulations.items():
            layer = build(16).double()
            for parameter in layer.parameters():
                nn.init.normal_(parameter)
            x = torch.randn(2, 16, 3, 5, dtype=torch.double, requires_grad=True)
            g = torch.randn_like(x)
            results = []
            for function in (layer, lambda v: defined(norm, v, layer)):
                out = function(x)
                grads = torch.autograd.grad(out, [x, *layer.parameters()], g)
                results.append([out, *grads])
            worst = max((a - b).abs().max().item() for a, b in zip(*results))
            print(f"{norm} {name}: differs by {worst:.1e} from the definition")
            if not worst < 1e-12:
                raise SystemExit(f"peer_norms: {norm} {name} is not {norm}")


def defined(norm, x, layer):
    """The definition, on [N,C,H,W]."""
    weight = layer.weight.view(-1, 1, 1)
    if norm == "layernorm":
        centred = x - x.mean(1, keepdim=True)
        deviation = torch.sqrt(centred.square().mean(1, keepdim=True) + EPS)
        return centred / deviation * weight + layer.bias.view(-1, 1, 1)
    if norm == "rmsnorm":
        return x / torch.sqrt(x.square().mean(1, keepdim=True) + EPS) * weight
    z = x.unflatten(1, (-1, 2))
    magnitude = torch.sqrt(z.square().sum(2, keepdim=True) + EPS)
    return (z / magnitude.mean(1, keepdim=True) * weight.unsqueeze(1)).flatten(1, 2)


if __name__ == "__main__":
    check()
