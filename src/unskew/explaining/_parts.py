"""What the score of a ranker is a sum of: parts with exact contributions, and functions that have to be sampled."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from unskew.data.rows import DenseRows
from unskew.explaining._additive import Additive
from unskew.explaining._sampled import Function
from unskew.explaining._trees import SumOfTrees
from unskew.explaining._waves import Waves
from unskew.learning.boosted_trees import BoostedTrees
from unskew.learning.networks import KernelFeatures
from unskew.objectives.joint_likelihood import flattening
from unskew.posterior import PosteriorModel
from unskew.rankers import Ranker

Exact = Additive | Waves | SumOfTrees
LEAST_WEIGHT = 1e-9
"""Weight of a method inside `auto`, of a score of about 1, below which it changes no digit that anyone reads."""


@dataclass(frozen=True)
class Weighted:
    """A function that counts by a factor."""

    factor: float
    function: Function

    def value(self, X: np.ndarray) -> np.ndarray:
        """Its part of the score, shape (n,)."""
        return self.factor * self.function(X)


def parts_of(ranker: Ranker, factor: float = 1.0) -> list[Exact | Weighted]:
    """Parts whose sum is the score but for a constant, each multiplied by the factor.

    Members of an ensemble, and methods inside `auto`, are taken apart each by itself. A method that makes something
    else of its network than a score is a function of which nothing is known.
    """
    if hasattr(ranker, "members_"):
        counting = [each for each in ranker.members_ if each.weight >= LEAST_WEIGHT]
        return [part for each in counting for part in parts_of(each.ranker, factor * each.weight / each.spread)]
    whole = Weighted(factor, lambda X: ranker.scores_at(DenseRows(X)))
    if hasattr(ranker, "function_"):
        return _parts_of_posterior(ranker.function_, factor) or [whole]
    for model in (ranker, getattr(ranker, "labeling_", None)):
        network = getattr(model, "network_", getattr(model, "network", None))
        if isinstance(network, nn.Module):
            part = _part_of_network(network, factor)
            return [whole if part is None or not _is_score(network, ranker) else part]
    return [whole]


def _is_score(network: nn.Module, ranker: Ranker) -> bool:
    """Whether the scores of a ranker are those of the network, as rows of zeros and others show."""
    rows = np.random.RandomState(0).normal(size=(16, *ranker.input_shape_)).astype(np.float32)
    with torch.inference_mode():
        own = network(torch.from_numpy(rows)).reshape(-1).double().numpy()
    return bool(np.allclose(own, ranker.scores_at(DenseRows(rows)), rtol=1e-4, atol=1e-5))


def _part_of_network(network: nn.Module, factor: float) -> Exact | None:
    """A network that is linear, of waves, or of trees; None for any other."""
    if isinstance(network, BoostedTrees):
        return SumOfTrees(network.trees(), factor)
    if type(network) is not nn.Sequential:
        return None
    kinds = [type(each) for each in network]
    if kinds == [nn.Flatten, nn.Linear]:
        weight = _float64(network[1].weight)[0] * factor
        return Additive(_as_they_are, weight, np.arange(len(weight)))
    if kinds == [nn.Flatten, KernelFeatures, nn.Linear]:
        projection, phase = _float64(network[1].projection), _float64(network[1].phase)
        amplitudes = factor * np.sqrt(2) * _float64(network[2].weight)[0]
        return Waves(_as_they_are, np.arange(len(projection)), projection, phase, amplitudes)
    return None


def _parts_of_posterior(model: PosteriorModel, factor: float) -> list[Exact | Weighted]:
    """Line and waves of a function in closed form; nothing where principal components mix the columns."""
    scaling, waves = model.scaling, model.waves
    if scaling.center is not None or not len(scaling.kept):
        return []
    own = factor * float(flattening(model.unseen)[0]) * model.coefficients[1:, 0]
    n_inputs = 1 + int(scaling.kept.max()) if scaling.filled is None else len(scaling.filled)
    kept = np.concatenate([np.arange(n_inputs), scaling.marked])[scaling.kept]  # marks of gaps belong to their column
    source = np.concatenate([kept, kept[scaling.ranked]])
    n_waves = len(waves.phases)
    amplitudes = own[len(source) :] * np.sqrt(2 / n_waves)

    def numbers(X: np.ndarray) -> np.ndarray:
        return scaling.apply(np.asarray(X, dtype=np.float64))

    line = Additive(numbers, own[: len(source)], source)
    return [line, Waves(numbers, source, waves.frequencies, waves.phases, amplitudes)] if amplitudes.any() else [line]


def split(parts: Sequence[Exact | Weighted], n_columns: int) -> tuple[list[Exact], Function | None]:
    """Parts that are exact, and the sum of the others as one function; waves of many columns are sampled, too."""
    exact: list[Exact] = []
    others: list[Weighted | Waves] = []
    for part in parts:
        if isinstance(part, Weighted) or (isinstance(part, Waves) and not part.is_quick(n_columns)):
            others.append(part)
        else:
            exact.append(part)
    return exact, None if not others else lambda X: np.sum([each.value(X) for each in others], axis=0)


def _float64(values: Any) -> np.ndarray:
    return np.asarray(values.detach().cpu().double().numpy())


def _as_they_are(X: np.ndarray) -> np.ndarray:
    return X.astype(np.float64)
