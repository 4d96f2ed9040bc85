r"""The paper's multilayer perceptron, with its gradient written out so that a step is five matrix products and little else.

Three layers, :math:`s(x) = w_3 \cdot [W_2^T [W_1^T x + b_1]_+ + b_2]_+ + b_3`. It computes what three `nn.Linear` with
ReLU in between compute; what differs is how (decision 10): the hidden layers are stored in a width that the machine's
vector registers divide, the ReLU works in place, and the last layer is a matrix-vector product.
"""

import math
from typing import Any

import torch
from torch import Generator, Tensor, nn
from torch.autograd.function import once_differentiable

REGISTER_WIDTH = 16
"""Floats in the widest vector register in use (AVX-512)."""


class Perceptron(nn.Module):
    """Two hidden layers with ReLU and one output, of shape (n,).

    The stored hidden layers have some columns more than `hidden`: their weights are zero, their gradients are zero, and
    so they stay zero. `layers` shows the weights without them.

    Parameters
    ----------
    n_inputs : int
    hidden : int
        Nodes of each hidden layer.
    """

    def __init__(self, n_inputs: int, hidden: int) -> None:
        super().__init__()
        self.n_inputs, self.hidden = n_inputs, hidden
        width = REGISTER_WIDTH * math.ceil(hidden / REGISTER_WIDTH)
        self.weight1 = nn.Parameter(torch.zeros(n_inputs, width))
        self.bias1 = nn.Parameter(torch.zeros(width))
        self.weight2 = nn.Parameter(torch.zeros(width, width))
        self.bias2 = nn.Parameter(torch.zeros(width))
        self.weight3 = nn.Parameter(torch.zeros(width))
        self.bias3 = nn.Parameter(torch.zeros(()))

    def draw(self, generator: Generator) -> None:
        """Draw the weights by torch's default law for linear layers, uniform within one over the root of the fan-in."""
        fan_in = (self.n_inputs, self.n_inputs, *4 * (self.hidden,))
        with torch.no_grad():
            for part, size in zip(self.layers(), fan_in, strict=True):
                part.uniform_(-1 / math.sqrt(size), 1 / math.sqrt(size), generator=generator)

    def layers(self) -> tuple[Tensor, ...]:
        """Views of W_1 (n_inputs, hidden), b_1, W_2 (hidden, hidden), b_2, w_3 (hidden,) and b_3 (a scalar)."""
        n = self.hidden
        weights = self.weight1[:, :n], self.bias1[:n], self.weight2[:n, :n], self.bias2[:n], self.weight3[:n]
        return (*weights, self.bias3)

    def forward(self, x: Tensor) -> Tensor:
        """Scores of shape (n,) for inputs of shape (n, n_inputs)."""
        score: Tensor = _Scores.apply(  # type: ignore[no-untyped-call]
            x, self.weight1, self.bias1, self.weight2, self.bias2, self.weight3, self.bias3
        )
        return score

    def extra_repr(self) -> str:
        """Sizes, for printing."""
        return f"n_inputs={self.n_inputs}, hidden={self.hidden}"


class _Scores(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, w1: Tensor, b1: Tensor, w2: Tensor, b2: Tensor, w3: Tensor, b3: Tensor) -> Tensor:
        hidden1 = torch.addmm(b1, x, w1).relu_()
        hidden2 = torch.addmm(b2, hidden1, w2).relu_()
        ctx.save_for_backward(x, w1, w2, w3, hidden1, hidden2)
        return torch.addmv(b3, hidden2, w3)

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, w1, w2, w3, hidden1, hidden2 = ctx.saved_tensors
        for_w3, for_b3 = torch.mv(hidden2.t(), grad), grad.sum()
        at2 = _where_active(torch.outer(grad, w3), hidden2)
        for_w2, for_b2 = torch.mm(hidden1.t(), at2), at2.sum(0)
        at1 = _where_active(torch.mm(at2, w2.t()), hidden1)
        for_w1, for_b1 = torch.mm(x.t(), at1), at1.sum(0)
        for_x = torch.mm(at1, w1.t()) if ctx.needs_input_grad[0] else None
        return for_x, for_w1, for_b1, for_w2, for_b2, for_w3, for_b3


def _where_active(grad: Tensor, hidden: Tensor) -> Tensor:
    """Gradient before a ReLU, in place: zero where its output is zero."""
    return torch.ops.aten.threshold_backward.grad_input(grad, hidden, 0, grad_input=grad)
