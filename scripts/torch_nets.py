"""The ResNets of phasor in PyTorch, for parity goldens and speed comparisons.

Parameters carry phasor's names (`layer1.0.conv1.weight`, `layer2.0.shortcut.norm.weight`, ...) and
PyTorch's layouts (OIHW). Norms come from a factory, so that the parity script can spell formulas
out and the speed script can use the fastest formulation.
"""

from torch import nn
import torch.nn.functional as F


class Conv(nn.Conv2d):
    """k x k convolution without bias, padded so that stride 1 keeps the size."""

    def __init__(self, c_in, c_out, k, stride=1):
        super().__init__(c_in, c_out, k, stride=stride, padding=k // 2, bias=False)


class Shortcut(nn.Module):
    """Projection where shapes change: 1x1 convolution and norm."""

    def __init__(self, c_in, c_out, stride, norm):
        super().__init__()
        self.conv = Conv(c_in, c_out, 1, stride)
        self.norm = norm(c_out)

    def forward(self, x):
        return self.norm(self.conv(x))


class Block(nn.Module):
    """conv-norm-relu-conv-norm-add-relu (He et al. 2015)."""

    def __init__(self, c_in, c_out, stride, norm):
        super().__init__()
        self.conv1 = Conv(c_in, c_out, 3, stride)
        self.norm1 = norm(c_out)
        self.conv2 = Conv(c_out, c_out, 3)
        self.norm2 = norm(c_out)
        changes = stride != 1 or c_in != c_out
        self.shortcut = Shortcut(c_in, c_out, stride, norm) if changes else None

    def forward(self, x):
        out = F.relu(self.norm1(self.conv1(x)))
        out = self.norm2(self.conv2(out))
        return F.relu(out + (x if self.shortcut is None else self.shortcut(x)))


class ResNet(nn.Module):
    """resnet{6n+2} (16/32/64 channels, three stages of n blocks) or resnet18.

    norm: function of the channel count that returns a module for [N,C,H,W].
    """

    def __init__(self, arch, norm, classes=100):
        super().__init__()
        if arch == "resnet18":
            widths, blocks = (64, 128, 256, 512), 2
        else:
            depth = int(arch.removeprefix("resnet"))
            if depth < 8 or depth % 6 != 2:
                raise ValueError(f"{arch}: the depth must be 6n+2, or the name resnet18")
            widths, blocks = (16, 32, 64), (depth - 2) // 6
        self.conv1 = Conv(3, widths[0], 3)
        self.norm1 = norm(widths[0])
        self.stages = []
        c_in = widths[0]
        for s, c_out in enumerate(widths):
            stage = nn.Sequential()
            for b in range(blocks):
                stage.append(Block(c_in, c_out, 2 if b == 0 and s > 0 else 1, norm))
                c_in = c_out
            self.add_module(f"layer{s + 1}", stage)
            self.stages.append(f"layer{s + 1}")
        self.fc = nn.Linear(c_in, classes)

    def forward(self, x):
        x = F.relu(self.norm1(self.conv1(x)))
        for name in self.stages:
            x = getattr(self, name)(x)
        return self.fc(x.mean(dim=(2, 3)))


def gflop_per_image(arch, side=32, classes=100):
    """Training cost counted as if direct: 2 x MAC x 3 (stem x 2) over convolutions and head."""
    net = ResNet(arch, lambda channels: nn.Identity(), classes)
    macs = {}

    def count(name):
        def hook(module, inputs, output):
            positions = output.shape[2] * output.shape[3]
            macs[name] = module.weight.numel() * positions * (2 if name == "conv1" else 3)
        return hook

    for name, module in net.named_modules():
        if isinstance(module, Conv):
            module.register_forward_hook(count(name))
    import torch
    with torch.no_grad():
        net(torch.zeros(1, 3, side, side))
    macs["fc"] = 3 * net.fc.weight.numel()
    return 2 * sum(macs.values()) / 1e9
