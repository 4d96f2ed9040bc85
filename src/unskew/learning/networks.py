"""Score functions: linear, kernel, the MLP and the CNN of App. E.3, or the user's own module.

The networks here draw their initial weights from a generator that is passed in. The values follow torch's default
(uniform within one over the root of the fan-in), but the global generator is never touched.
"""

import copy
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Generator, Tensor, nn

from unskew.learning._convnet import ConvNet as ConvNet
from unskew.learning._convnet import undrawn
from unskew.learning._perceptron import Perceptron as Perceptron

HIDDEN = 124
"""Hidden nodes of the paper's networks (App. E.3)."""
FOURIER_FEATURES = 1024
"""Random features of the kernel network; their error falls with one over the root of this number."""

_GLOBAL_GENERATOR = threading.RLock()
"""Held while a user's module draws from the global generator, so that threads do not mix their draws."""

TREES = "trees"
"""Name of what is no network, but takes the place of one; see `unskew.learning.boosting`."""
NetworkChoice = str | Callable[[tuple[int, ...]], nn.Module]


class KernelFeatures(nn.Module):
    r"""Random Fourier features of the Gaussian kernel :math:`\exp(-\gamma \|x - x'\|^2)` [1]_.

    Cosines of random projections, of unit size on average, so that a linear layer on top learns at the same pace as
    on standardized inputs.

    References
    ----------
    .. [1] A. Rahimi, B. Recht. Random features for large-scale kernel machines. NeurIPS 2007.
    """

    projection: Tensor
    phase: Tensor

    def __init__(self, n_inputs: int, n_features: int = FOURIER_FEATURES) -> None:
        super().__init__()
        self.register_buffer("projection", torch.zeros(n_inputs, n_features, dtype=torch.float32))
        self.register_buffer("phase", torch.zeros(n_features, dtype=torch.float32))

    def draw(self, sample: Tensor, generator: Generator) -> None:
        """Draw the projections, with gamma from the median squared distance between rows of the sample."""
        squared = torch.pdist(sample.flatten(1).double()).square()
        positive = squared[squared > 0]
        gamma = 1.0 if len(positive) == 0 else 1 / float(positive.median())
        self.projection.normal_(std=math.sqrt(2 * gamma), generator=generator)
        self.phase.uniform_(0, 2 * math.pi, generator=generator)

    def forward(self, x: Tensor) -> Tensor:
        """Features of each row, shape (n, n_features)."""
        return math.sqrt(2) * torch.cos(x @ self.projection + self.phase)


def build_network(network: NetworkChoice, sample: Tensor, generator: Generator) -> nn.Module:
    """Build the network and draw its initial weights.

    A callable is given the shape of one row and returns a module that maps (n, *shape) to (n,) or (n, 1); it draws its
    own weights (see `own_randomness`). `sample` holds some rows, of shape (n, *shape): the kernel takes its width from
    their distances.
    """
    shape = tuple(sample.shape[1:])
    if callable(network):
        return _users_module(network, shape)
    module = NETWORKS[network](shape)
    for layer in module.modules():
        if isinstance(layer, KernelFeatures):
            layer.draw(sample, generator)
        elif isinstance(layer, Perceptron):
            layer.draw(generator)
        elif isinstance(layer, nn.Linear | nn.Conv2d):
            bound = 1 / math.sqrt(layer.weight[0].numel())
            for each in layer.parameters():
                nn.init.uniform_(each, -bound, bound, generator)
    return module


@contextmanager
def own_randomness(network: NetworkChoice, seed: int, device: str) -> Iterator[None]:
    """Lend a user's module a global generator with this seed, and put the global state back afterwards.

    A user's module may draw from the global generator when it is built and (dropout) when it is trained; the networks
    of this package never do, so that for them nothing is touched and threads do not disturb each other.
    """
    if not callable(network):
        yield
        return
    kind = torch.device(device).type
    devices = [] if kind == "cpu" else [device]
    with _GLOBAL_GENERATOR, torch.random.fork_rng(devices=devices, device_type=kind):
        # Not torch.manual_seed, which seeds all devices there are: only these are put back.
        torch.default_generator.manual_seed(seed)
        for each in devices:
            getattr(torch, kind).set_rng_state(Generator(each).manual_seed(seed).get_state(), each)
        yield


def empty_network(network: NetworkChoice, shape: tuple[int, ...]) -> nn.Module:
    """Build the network without drawing weights, for loading saved ones."""
    if not callable(network):
        return NETWORKS[network](shape)
    with own_randomness(network, 0, "cpu"):
        return _users_module(network, shape)


def _users_module(network: Callable[..., nn.Module], shape: tuple[int, ...]) -> nn.Module:
    wanted = "network must be a name or a function that takes the shape of one row and returns a torch module"
    if isinstance(network, nn.Module):
        raise TypeError(f"{wanted}, but it is a module itself, a {type(network).__name__}. Pass lambda shape: module.")
    module = network(shape)
    if not isinstance(module, nn.Module):
        raise TypeError(f"{wanted}, but what it returned is {module!r}.")
    return copy.deepcopy(module)  # a callable may return the same module every time


def _mlp_network(shape: tuple[int, ...]) -> nn.Module:
    perceptron = Perceptron(math.prod(shape), HIDDEN)
    return perceptron if len(shape) == 1 else nn.Sequential(nn.Flatten(), perceptron)


def _cnn_network(shape: tuple[int, ...]) -> nn.Module:
    if len(shape) != 3 or min(shape[1:]) < 16:
        raise ValueError(
            "network='cnn' needs images of shape (n, channels, height, width) of 16 x 16 pixels or more, but one "
            f"row of X has shape {shape}. Reshape X, or use network='mlp'."
        )
    return ConvNet((shape[0], shape[1], shape[2]), HIDDEN)


NETWORKS: dict[str, Callable[[tuple[int, ...]], nn.Module]] = {
    "linear": lambda shape: nn.Sequential(nn.Flatten(), undrawn(nn.Linear, math.prod(shape), 1)),
    "kernel": lambda shape: nn.Sequential(
        nn.Flatten(), KernelFeatures(math.prod(shape)), undrawn(nn.Linear, FOURIER_FEATURES, 1)
    ),
    "mlp": _mlp_network,
    "cnn": _cnn_network,
}
SCORE_FUNCTIONS = (*NETWORKS, TREES)
"""Names that a user can give."""
