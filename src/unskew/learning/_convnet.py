r"""The paper's convolutional network (App. E.3), its convolutions turned into large matrix products.

Two blocks of a 5 x 5 convolution, 2 x 2 max-pooling and ReLU, and then the perceptron. With 6 and 16 filters a
convolution has too little to do per pixel to keep the processor's multipliers busy. Here one row of a matrix product
computes a whole tile of outputs, 4 x 4 pixels of the first convolution and 2 x 2 of the second, from the patch of
inputs on which the tile depends. The matrix holds every filter once for each pixel of the tile, and zeros elsewhere. So
it multiplies more often than it must, 2.6 and 1.4 times, but several times as fast.

The tiles are chosen so that little has to be moved:

- The columns of a product come in four groups, one for each pixel of the pooling windows. Pooling is the maximum of two
  halves, twice.
- What pooling leaves of a 4 x 4 tile is a cell of 2 x 2 pixels, and 3 x 3 neighbouring cells are the patch of a tile of
  the second convolution. Likewise 2 x 2 cells of 4 x 4 pixels of the image are the patch of a tile of the first.
- Cells next to each other are copied one behind the other, as a strip. Cells below each other are left where they
  are: a product is the sum over the strips of a patch, and these are rows of one array, at some distance.

Rows and columns of an image beyond a multiple of 4 are left out. The pooling of the plain network drops them as well.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product, repeat

import torch
from torch import Tensor, nn

from unskew.learning._perceptron import Perceptron, PerceptronPullback, before_relu

FILTERS = 6, 16
"""Filters of the two convolutions (App. E.3)."""
CHUNK_TILES = 3136
"""Tiles of the first convolution computed at a time, 64 of the paper's images: few calls, and the caches hold them."""


class ConvNet(nn.Sequential):
    """Two blocks of convolution, max-pooling and ReLU, and a perceptron; scores of shape (n,).

    Its layers are torch's own, and where autograd records or the device is not the CPU they also compute. Else the
    matrix products do: here for scoring, and in `ConvNetPullback` for training. `shape` is (channels, height, width) of
    the images, which have at least 16 x 16 pixels.
    """

    def __init__(self, shape: tuple[int, int, int], hidden: int) -> None:
        channels, height, width = shape
        n_pooled = FILTERS[1] * (height // 4 - 3) * (width // 4 - 3)
        super().__init__(
            undrawn(nn.Conv2d, channels, FILTERS[0], kernel_size=5),
            nn.MaxPool2d(2),  # before the ReLU, with which it commutes, to leave it a quarter of the work
            nn.ReLU(),
            undrawn(nn.Conv2d, *FILTERS, kernel_size=5),
            nn.MaxPool2d(2),
            nn.ReLU(),
            nn.Flatten(),
            Perceptron(n_pooled, hidden),
        )
        self.shape = shape

    def forward(self, x: Tensor) -> Tensor:
        """Scores of shape (n,) for images of shape (n, channels, height, width)."""
        if torch.is_grad_enabled() or x.device.type != "cpu" or x.shape[1:] != self.shape:
            scores: Tensor = super().forward(x)  # type: ignore[no-untyped-call]
            return scores
        blocks = _Blocks(self, len(x))
        features = x.new_empty(len(x), self.head.n_inputs)
        blocks.forward(x, features, repeat(blocks.new_memory()))
        return self.head.forward(features)

    @property
    def convolutions(self) -> list[nn.Conv2d]:
        """Both convolutions."""
        return [layer for layer in self if isinstance(layer, nn.Conv2d)]

    @property
    def head(self) -> Perceptron:
        """The perceptron, whose inputs are in the order channel, row, column."""
        head = self[-1]
        assert isinstance(head, Perceptron)
        return head


class ConvNetPullback:
    """Scores of a network and, from the slopes of a risk at these scores, the gradients of its weights.

    The same as autograd gives, in memory that is allocated once for `batch_size` rows at most.
    """

    uses_autograd = False

    def __init__(self, network: ConvNet, batch_size: int) -> None:
        self.blocks = _Blocks(network, batch_size)
        self.memory: list[_Memory] = []
        self.head = PerceptronPullback(network.head, batch_size)
        self.features = self.head.w1.new_empty(batch_size, len(self.head.w1))

    def scores(self, x: Tensor) -> Tensor:
        """Scores of shape (n,) for images of shape (n, channels, height, width)."""
        self.used = self.features[: len(x)]
        for block in self.blocks.both:
            block.take_weights()
        while len(self.memory) * self.blocks.chunk < len(x):
            self.memory.append(self.blocks.new_memory())
        self.blocks.forward(x, self.used, self.memory)
        return self.head.scores(self.used)

    def gradients(self, slope: Tensor) -> list[Tensor]:
        """Gradients of all weights, from the derivative of the risk with respect to each score."""
        for_head = self.head.gradients(slope)
        slopes = torch.mm(self.head.at1, self.head.w1.t(), out=self.used)  # in place of the features
        self.blocks.backward(slopes, self.memory)
        return [*(each for block in self.blocks.both for each in block.take_gradients()), *for_head]


@dataclass(frozen=True)
class _Kept:
    """What the backward pass of a block needs of the forward pass, for one chunk of images."""

    input: Tensor  # the block's input, seen as strips, with overlap
    output: Tensor  # of shape (tiles, pooled numbers)
    rightwards: Tensor  # by how much the right of two pixels exceeds the left
    downwards: Tensor  # and the lower one the upper


class _Block:
    """Convolution, max-pooling and ReLU of one chunk of images.

    Tiles and strips are ordered by row of the grid, image, and column of the grid, so that the strips which are at one
    place of their patch are rows one after another, for all tiles. `source`, of shape (strips of a patch, numbers of a
    strip, outputs of a tile), says which of the layer's weights each entry of the matrices is; the count of the weights
    stands for zero. `grid` is (rows of tiles, images, columns of tiles).
    """

    def __init__(self, layer: nn.Conv2d, source: Tensor, grid: tuple[int, int, int]) -> None:
        assert layer.bias is not None
        self.weight, self.bias = layer.weight.detach(), layer.bias.detach()
        new = self.weight.new_zeros
        (n_strips, n_inputs, n_outputs), n_tiles = source.shape, math.prod(grid)
        self.grid, self.source = grid, source.flatten()
        self.weights_and_zero, self.for_weights_and_zero = new(2, self.weight.numel() + 1)
        self.matrices, self.for_matrices = new(2, *source.shape)
        self.biases, self.for_biases = new(2, n_outputs // 4)
        self.strips = new(grid[0] + n_strips - 1, *grid[1:], n_inputs)
        self.by_place = [self.strips[i : i + grid[0]].view(n_tiles, n_inputs) for i in range(n_strips)]
        # The backward pass uses the memory of each quantity for its slope.
        self.products, self.larger, self.pooled = (new(n_tiles, n_outputs // each) for each in (1, 2, 4))
        self.left, self.right = self.products.chunk(2, dim=1)
        self.upper, self.lower = self.larger.chunk(2, dim=1)
        self.take_weights()

    def new_memory(self, strips: Tensor) -> _Kept:
        """Memory for one chunk, whose input is seen through `strips`."""
        return _Kept(strips, *(torch.zeros_like(each) for each in (self.pooled, self.larger, self.pooled)))

    def take_weights(self) -> None:
        """Take over the present weights of the layer."""
        self.weights_and_zero[:-1] = self.weight.view(-1)
        torch.index_select(self.weights_and_zero, 0, self.source, out=self.matrices.view(-1))
        self.biases.view(-1, len(self.bias))[:] = self.bias

    def forward(self, kept: _Kept) -> None:
        """From the input to the output of a chunk."""
        self.strips.view(kept.input.shape).copy_(kept.input)
        torch.mm(self.by_place[0], self.matrices[0], out=self.products)
        for strips, matrix in zip(self.by_place[1:], self.matrices[1:], strict=True):
            self.products.addmm_(strips, matrix)
        torch.maximum(self.left, self.right, out=self.larger)
        torch.maximum(self.upper, self.lower, out=kept.output).add_(self.biases).relu_()
        torch.sub(self.right, self.left, out=kept.rightwards)
        torch.sub(self.lower, self.upper, out=kept.downwards)

    def backward(self, kept: _Kept) -> None:
        """From the slopes of the output, in `pooled`, to those of the products; adds to the gradients."""
        before_relu(self.pooled, kept.output, 0, grad_input=self.pooled)
        self.for_biases += self.pooled.sum(0)
        # A slope goes to the larger of two pixels and, as in torch's pooling, to the first of equal ones.
        before_relu(self.pooled, kept.downwards, 0, grad_input=self.lower)
        torch.sub(self.pooled, self.lower, out=self.upper)
        before_relu(self.larger, kept.rightwards, 0, grad_input=self.right)
        torch.sub(self.larger, self.right, out=self.left)
        # Again, as in the forward pass: the strips of all chunks together would not stay in the cache.
        self.strips.view(kept.input.shape).copy_(kept.input)
        for strips, gradient in zip(self.by_place, self.for_matrices, strict=True):
            gradient.addmm_(strips.t(), self.products)

    def slopes_of_strips(self) -> None:
        """From the slopes of the products to those of the strips, which take the place of the strips."""
        self.strips.zero_()
        for strips, matrix in zip(self.by_place, self.matrices, strict=True):
            strips.addmm_(self.products, matrix.t())

    def take_gradients(self) -> tuple[Tensor, Tensor]:
        """Gradients of the layer's weight and bias, over all chunks since the last call."""
        self.for_weights_and_zero.zero_().index_add_(0, self.source, self.for_matrices.view(-1))
        for_weight = self.for_weights_and_zero[:-1].view(self.weight.shape)
        for_bias = self.for_biases.view(-1, len(self.bias)).sum(0)
        self.for_matrices.zero_()
        self.for_biases.zero_()
        return for_weight, for_bias


_Memory = tuple[Tensor, _Kept, _Kept]
"""Of one chunk: the images, channels last, and what each block keeps."""


class _Blocks:
    """Both blocks of a network, for so many images at most; they are taken in chunks of equal size."""

    def __init__(self, network: ConvNet, n_images: int) -> None:
        channels, height, width = network.shape
        rows, columns = height // 4, width // 4
        most = max(1, CHUNK_TILES * torch.get_num_threads() // ((rows - 1) * (columns - 1)))
        self.chunk = math.ceil(max(1, n_images) / math.ceil(max(1, n_images) / most))
        self.image_shape = (self.chunk, 4 * rows, 4 * columns, channels)
        first, second = network.convolutions
        self.first = _Block(first, _first_source(first), (rows - 1, self.chunk, columns - 1))
        self.second = _Block(second, _second_source(second), (rows - 3, self.chunk, columns - 3))
        self.both = self.first, self.second
        # Each pooled cell is in three strips: its slope is the sum of those that it has there.
        cells = self.first.pooled.view(*self.first.grid, -1)
        in_strips = self.second.strips.view(*self.second.strips.shape[:3], 3, -1)
        self.overlaps = [(cells[:, :, i : i + columns - 3], in_strips[:, :, :, i]) for i in range(3)]

    def new_memory(self) -> _Memory:
        """Memory for one chunk."""
        images = self.first.weight.new_zeros(self.image_shape)
        n, height, _, channels = self.image_shape
        lines = images.view(n, height // 4, 4, -1)  # (image, row of cells, line in the cell, numbers)
        first = self.first.new_memory(lines.unfold(3, 8 * channels, 4 * channels).permute(1, 0, 3, 2, 4))
        cells = first.output.view(*self.first.grid[:2], -1)
        size = self.first.pooled.shape[1]
        return images, first, self.second.new_memory(cells.unfold(2, 3 * size, size))

    def forward(self, images: Tensor, features: Tensor, memories: Iterable[_Memory]) -> None:
        """From images to `features` of shape (images, features), each chunk in its memory."""
        _, height, width, _ = self.image_shape
        parts, outs = torch.split(images, self.chunk), torch.split(features, self.chunk)
        for x, out, (channels_last, first, second) in zip(parts, outs, memories, strict=False):
            # Where images are missing others from before are left: they are computed along and never looked at.
            channels_last[: len(x)].copy_(x[:, :, :height, :width].permute(0, 2, 3, 1))
            self.first.forward(first)
            self.second.forward(second)
            outputs = self._by_image(second.output)[: len(x)]
            out.view(outputs.shape).copy_(outputs)

    def backward(self, slopes: Tensor, memories: Iterable[_Memory]) -> None:
        """Add to the gradients, from the slopes of the features, shape (images, features)."""
        own = self._by_image(self.second.pooled)
        for part, (_, first, second) in zip(torch.split(slopes, self.chunk), memories, strict=False):
            own[: len(part)].copy_(part.view(len(part), *own.shape[1:]))
            own[len(part) :].zero_()
            self.second.backward(second)
            self.second.slopes_of_strips()
            self.first.pooled.zero_()
            for cells, in_strips in self.overlaps:
                cells.add_(in_strips)
            self.first.backward(first)

    def _by_image(self, output: Tensor) -> Tensor:
        """Outputs of the second block, viewed in torch's order."""
        return output.view(*self.second.grid, -1).permute(1, 3, 0, 2)


def undrawn(kind: type[nn.Module], *sizes: int, **options: int) -> nn.Module:
    """Make a layer without drawing its weights: torch's constructor would draw from the global generator."""
    layer: nn.Module = nn.utils.skip_init(kind, *sizes, **options, dtype=torch.float32)  # type: ignore[no-untyped-call]
    return layer


def _first_source(layer: nn.Conv2d) -> Tensor:
    """Source of the first block: strips of two cells of 4 x 4 pixels, with their lines one after another."""
    # Channel, strip, line, x; y and x in two parts, that of the pooled pixel and that in the pooling window; filter.
    source = _weight_behind_tile(layer, 4).view(-1, 2, 4, 8, 2, 2, 2, 2, FILTERS[0])
    return source.permute(1, 2, 3, 0, 7, 5, 4, 6, 8).flatten(4).flatten(1, 3)


def _second_source(layer: nn.Conv2d) -> Tensor:
    """Source of the second block: strips of three cells of 2 x 2 pixels, one cell after another."""
    # Channel, strip, y in it, cell, x in it; y and x in the pooling window; filter.
    source = _weight_behind_tile(layer, 2).view(-1, 3, 2, 3, 2, 2, 2, FILTERS[1])
    return source.permute(1, 3, 2, 4, 0, 6, 5, 7).flatten(5).flatten(1, 4)


def _weight_behind_tile(layer: nn.Conv2d, tile: int) -> Tensor:
    """Which weight leads from (channel, y, x) in a patch to (y, x, filter) in its tile; for none, their count."""
    weight = layer.weight
    n_filters, channels, size, _ = weight.shape
    numbers = torch.arange(weight.numel()).view(weight.shape).permute(1, 2, 3, 0)
    source = torch.full((channels, tile + size - 1, tile + size - 1, tile, tile, n_filters), weight.numel())
    for y, x in product(range(tile), range(tile)):
        source[:, y : y + size, x : x + size, y, x] = numbers
    return source
