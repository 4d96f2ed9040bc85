"""NPU: positive-unlabeled learning from noisy labels with confidence."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from unskew._support.parameters import Rule, all_above
from unskew.data.records import PUData, ScoredBatch
from unskew.learning.trainer import Trainer
from unskew.objectives.pu_risk import absolute_correction, mean_over_everything
from unskew.objectives.surrogates import Surrogate, sigmoid
from unskew.rankers._by_risk import RiskRanker


def npu_risk_parts(
    batch: ScoredBatch, confidence: Tensor, prior: float, mixing: float, surrogate: Surrogate, scenario: str
) -> tuple[Tensor, Tensor]:
    r"""Risk of the positives and risk of the negatives, from PU scores with confidence r and a mixing weight a.

    .. math:: \pi E_l[\ell(g)], \qquad a E_x[\ell(-g)] + \pi E_l\left[\frac{1 - r - a}{r} \ell(-g)\right]

    Their sum is a times the sum of `pu_risk_parts` plus (1 - a) pi times the risk of Pconf.
    """
    loss_if_negative = surrogate(-batch.labeled)
    everything = mean_over_everything(loss_if_negative, surrogate(-batch.unlabeled), batch.alpha, scenario)
    by_confidence = ((1 - confidence - mixing) / confidence * loss_if_negative).mean()
    return prior * surrogate(batch.labeled).mean(), mixing * everything + prior * by_confidence


@dataclass(kw_only=True, eq=False, repr=False)
class NoisyPU(RiskRanker):
    r"""Mix the positive-unlabeled risk with the risk from confidence, in the proportion that validates best.

    .. math::
        \min_g \pi E_l[\ell(g)] + \left| a E_x[\ell(-g)] + \pi E_l\left[\frac{1 - r - a}{r} \ell(-g)\right] \right|

    Without the absolute value it is a times the risk of `nnpu` (uncorrected) plus :math:`(1 - a) \pi` times that of
    `pconf`. One network is trained for each weight a in `mixings`, in one `fit`, and the one with the lowest validation
    risk is kept. In the one-sample scenario :math:`E_x = \alpha E_l + (1 - \alpha) E_u`, in the two-sample scenario
    :math:`E_x = E_u`.

    Parameters
    ----------
    mixings : sequence of float in (0, 1), default=(0.1, 0.2, ..., 0.9)
        Weights to choose from.

    Attributes
    ----------
    mixing_ : float
        The chosen weight. `history_` and `best_epoch_` are those of its training.

    Notes
    -----
    **Assumption.**
    SCAR: labeled instances are an unbiased sample of the positives, and confidence is the posterior itself.

    **Use it when.**
    Labels are unbiased, and confidence and unlabeled data are both there.

    **Do not use it when.**
    Labels favor some kinds of positives, or time is short: it trains as many networks as there are weights.

    **Differs from its authors.**
    Labels are taken as free of noise, as in the paper (its confidence of a label, r-tilde, is 1); the absolute
    correction and the sigmoid loss are the paper's too. Validation risks of different weights are values of different
    objectives, so that choosing among them is a heuristic; it is the paper's rule. Confidence below `clip` is raised to
    it.

    References
    ----------
    Tang et al. Confidence-based noisy positive-unlabeled learning, 2025; cited as in Kumagai et al. 2026, Section 5.2.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(300, random_state=0)
    >>> ranker = unskew.make("npu", max_epochs=5, random_state=0)
    >>> ranker.fit(data.X, data.labeled, confidence=data.confidence).decision_function(data.X).shape
    (300,)
    """

    mixings: Sequence[float] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)

    name: ClassVar[str] = "npu"
    table_name: ClassVar[str] = "NPU"
    position: ClassVar[int] = 9
    assumption: ClassVar[str] = "SCAR"
    needs: ClassVar[tuple[str, ...]] = ("confidence", "prior")
    without_confidence: ClassVar[str] = "which makes its confidence term a reward for high scores"

    rules: ClassVar[dict[str, Rule]] = {"mixings": all_above(0, 1)}

    def learn(self, data: PUData, held_out: PUData, trainer: Trainer, rng: np.random.RandomState) -> None:
        """Train a network for each weight and keep the one with the lowest validation risk."""
        seed, lowest = int(rng.randint(2**31 - 1)), np.inf
        for mixing in self.mixings:
            # Every weight starts from the same network and sees the same batches: only the objective differs.
            same = np.random.RandomState(seed)
            risk = partial(self._risk_at, float(mixing))
            trained = trainer.minimize(risk, data, held_out, same, f"{self.name}, weight {mixing:g}")
            validation_risk = trained.history[trained.best_epoch].validation_risk
            if validation_risk < lowest:
                lowest, self.mixing_ = validation_risk, float(mixing)
                self.network_, self.history_, self.best_epoch_ = trained.network, trained.history, trained.best_epoch

    def risk(self, batch: ScoredBatch) -> Tensor:
        """Risk at the chosen weight."""
        return self._risk_at(self.mixing_, batch)

    def _risk_at(self, mixing: float, batch: ScoredBatch) -> Tensor:
        given = torch.ones_like(batch.labeled) if batch.confidence is None else batch.confidence
        confidence = given.clamp(min=self.clip)
        return absolute_correction(*npu_risk_parts(batch, confidence, self.prior_, mixing, sigmoid, self.scenario))
