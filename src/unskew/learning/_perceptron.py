r"""The paper's multilayer perceptron, and its gradient written out: a step is five matrix products and little else.

Three layers, :math:`s(x) = w_3 \cdot [W_2^T [W_1^T x + b_1]_+ + b_2]_+ + b_3`. It computes what three `nn.Linear` with
ReLU in between compute; what differs is how (decision 10).

All weights are rows of one matrix, so that the optimizer has one tensor to update. The columns are the hidden nodes,
and then a few more, which fill up the vector registers of the machine. The first of these is a node that is always 1:
the weights that lead from it to the next layer are that layer's biases, :math:`b_2` and :math:`b_3`, so that the matrix
products compute them and their gradients along with the rest.
"""

import math
from typing import Any

import torch
from torch import Generator, Tensor, nn

REGISTER_WIDTH = 16
"""Floats in the widest vector register in use (AVX-512)."""


def _before_relu(grad: Tensor, output: Tensor, threshold: float, *, grad_input: Tensor) -> Tensor:
    return torch.where(output > threshold, grad, grad.new_zeros(()), out=grad_input)


# The operation has no public name: without it the one above does, which takes two walks through memory.
before_relu: Any = getattr(getattr(torch.ops.aten, "threshold_backward", None), "grad_input", _before_relu)
"""``before_relu(grad, output, 0, grad_input=out)``: the gradient before a ReLU from that behind it."""


class Perceptron(nn.Module):
    """Two hidden layers with ReLU, of `hidden` nodes each, and one output, of shape (n,).

    `weights`, of shape (n_inputs + 1 + width + 1, width), has the rows of W_1, b_1, W_2 (b_2 is its row number
    `hidden`) and w_3 (b_3 is its entry number `hidden`). `layers` shows them one by one. All else in the columns beyond
    `hidden` is fixed: two ones make the nodes that are always 1, and the rest is zero.
    """

    def __init__(self, n_inputs: int, hidden: int) -> None:
        super().__init__()
        self.n_inputs, self.hidden = n_inputs, hidden
        width = REGISTER_WIDTH * math.ceil((hidden + 1) / REGISTER_WIDTH)
        self.weights = nn.Parameter(torch.zeros(n_inputs + 1 + width + 1, width, dtype=torch.float32))
        with torch.no_grad():
            _, b1, w2, _ = _parts(self.weights)
            b1[hidden] = w2[hidden, hidden] = 1
        self.hold_fixed()

    def draw(self, generator: Generator) -> None:
        """Draw the weights by torch's default law for linear layers, uniform within one over the root of the fan-in."""
        fan_in = (self.n_inputs, self.n_inputs, *4 * (self.hidden,))
        with torch.no_grad():
            for layer, size in zip(self.layers(), fan_in, strict=True):
                layer.uniform_(-1 / math.sqrt(size), 1 / math.sqrt(size), generator=generator)

    def layers(self) -> tuple[Tensor, ...]:
        """Views of W_1 (n_inputs, hidden), b_1, W_2 (hidden, hidden), b_2, w_3 (hidden,) and b_3 (a scalar)."""
        n = self.hidden
        w1, b1, w2, w3 = _parts(self.weights)
        return w1[:, :n], b1[:n], w2[:n, :n], w2[n, :n], w3[:n], w3[n]

    def forward(self, x: Tensor) -> Tensor:
        """Scores of shape (n,) for inputs of shape (n, n_inputs)."""
        w1, b1, w2, w3 = _parts(self.weights)
        return torch.mv(torch.mm(torch.addmm(b1, x, w1).relu_(), w2).relu_(), w3)

    def extra_repr(self) -> str:
        """Sizes, for printing."""
        return f"n_inputs={self.n_inputs}, hidden={self.hidden}"

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)  # type: ignore[no-untyped-call]
        self.hold_fixed()  # neither pickle nor deepcopy keeps the hooks of a parameter

    def hold_fixed(self) -> None:
        """Let the fixed entries stay fixed under autograd, for a perceptron that is part of a larger network."""
        if self.weights.requires_grad:
            self.weights.register_hook(self._release_fixed)  # type: ignore[no-untyped-call]

    def _release_fixed(self, gradient: Tensor) -> Tensor:
        gradient = gradient.clone()
        gradient[:-1, self.hidden].zero_()
        return gradient


class PerceptronPullback:
    """Scores of a perceptron and, from the slopes of a risk at these scores, the gradient of its weights.

    The same as autograd gives, in fewer and larger operations, and in memory allocated once for `batch_size` rows.
    """

    uses_autograd = False

    def __init__(self, perceptron: Perceptron, batch_size: int) -> None:
        weights = perceptron.weights.detach()
        self.w1, self.b1, self.w2, self.w3 = _parts(weights)
        self.gradient = torch.zeros_like(weights)
        self.for_w1, self.for_b1, self.for_w2, self.for_w3 = _parts(self.gradient)
        hidden = perceptron.hidden
        self.into_second_one = self.for_w2[:, hidden]
        # From the first hidden layer no gradient comes to the node that is always 1: its column here stays zero.
        self.back_through_w2 = torch.zeros_like(self.w2)
        self.from_nodes, self.to_nodes = self.w2[:hidden], self.back_through_w2[:, :hidden].t()
        self.memory = torch.zeros(3, batch_size, weights.shape[1], dtype=weights.dtype)
        self._use_rows(batch_size)

    def scores(self, x: Tensor) -> Tensor:
        """Scores of shape (n,) for inputs of shape (n, n_inputs)."""
        if len(x) != len(self.hidden1):
            self._use_rows(len(x))
        self.x = x
        # A product that starts from the biases instead of zero: adding them afterwards is one more walk through memory.
        torch.addmm(self.b1, x, self.w1, out=self.hidden1).relu_()
        torch.mm(self.hidden1, self.w2, out=self.hidden2).relu_()
        return torch.mv(self.hidden2, self.w3)

    def gradients(self, slope: Tensor) -> list[Tensor]:
        """Gradient of the weights, from the derivative of the risk with respect to each score."""
        # The gradient before the second ReLU is `active` times w_3; the factor is left to the small matrices. It takes
        # the place of the nodes, which are not needed any more: the fewer arrays, the more of them stay in the cache.
        active = before_relu(slope.unsqueeze(1), self.hidden2, 0, grad_input=self.hidden2)
        torch.mm(self.hidden1.t(), active, out=self.for_w2)
        # Where a node is active it is linear, hidden2 = hidden1 @ w2: its sum with `slope` is in this product already.
        torch.sum(self.w2 * self.for_w2, 0, out=self.for_w3)
        self.for_w2.mul_(self.w3)
        self.into_second_one.zero_()  # the node that is always 1 stays so
        # A product with a matrix whose rows lie one after another is faster by more than it takes to turn it.
        torch.mul(self.from_nodes, self.w3, out=self.to_nodes)
        at1 = torch.mm(active, self.back_through_w2, out=self.at1)
        before_relu(at1, self.hidden1, 0, grad_input=at1)
        torch.mm(self.x.t(), at1, out=self.for_w1)
        torch.sum(at1, 0, out=self.for_b1)
        return [self.gradient]

    def _use_rows(self, n: int) -> None:
        """Set the views of the memory for a batch of n rows."""
        self.hidden1, self.hidden2, self.at1 = self.memory[:, :n]


def _parts(weights: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Views of W_1 (n_inputs, width), b_1 (width,), W_2 (width, width) and w_3 (width,) in a matrix of all weights."""
    n_rows, width = weights.shape
    w1, b1, w2, w3 = torch.split_with_sizes(weights, (n_rows - width - 2, 1, width, 1))
    return w1, b1[0], w2, w3[0]
