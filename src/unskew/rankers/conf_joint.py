"""Joint likelihood of confidence and labels, with networks."""

import copy
import math
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from unskew._support.parameters import Rule, whole_number
from unskew._support.progress import progress_bar
from unskew.data.records import Epoch, PUData
from unskew.learning.scoring import score_rows
from unskew.learning.trainer import Risk, Trained, Trainer
from unskew.objectives.joint_risk import confidence_logit, posterior_risk, propensity_risk
from unskew.rankers._em import Logits, observed_loss
from unskew.rankers._two_networks import TwoNetworkRanker

FIRST_ODDS = 1 / 3
"""Of a positive to be labeled, before there is a network for it."""
FIRST_DEVIATION, LEAST_DEVIATION = 1.0, 0.2
"""Of the confidence on the scale of the logit: before anything is learned, and at the least."""


@dataclass(kw_only=True, eq=False, repr=False)
class ConfidenceJoint(TwoNetworkRanker):
    r"""Learn posterior and propensity at once, from which rows are labeled and from the confidence as a target.

    A row is labeled with probability :math:`\sigma(f) \sigma(g)`; the logit y of its confidence is f but for noise of
    deviation s. The negative log likelihood of both is minimized:

    .. math::
        -\sum_l \{\log \sigma(f) + \log \sigma(g)\} - \sum_u \log\{1 - \sigma(f) \sigma(g)\}
        + \sum_l \Big\{\frac{(y - f)^2}{2 s^2} + \log s\Big\}

    Labels alone determine only the product of posterior and propensity; the confidence tells the two apart. f is a
    network of the kind `network`, g a linear function, and they take turns: each is trained for an epoch while the
    other is held; then s is computed anew. The score is f; the round with the lowest validation loss is kept. This is
    for the one-sample scenario.

    Parameters
    ----------
    epochs_per_round : int, default=1
        Epochs that each network is trained for before the other one's turn; `max_epochs` counts those of the posterior.

    Attributes
    ----------
    network_, propensity_network_ : torch.nn.Module
        f and g; `posterior` and `propensity` give the probabilities.
    deviation_ : float
        s, on the scale of the logit.

    Notes
    -----
    **Assumption.**
    SAR, with a propensity that is simpler than the posterior: a linear function behind the sigmoid. The confidence is
    about the probability of being positive.

    **Use it when.**
    There is confidence, and what makes a row positive needs a network: images, interactions, many labels.

    **Do not use it when.**
    There is no confidence (it then becomes `sar-em` with a linear propensity), or for two samples, where the
    probability of being labeled has no meaning: see `conf-gp`.

    **Differs from its authors.**
    It is this library's own. Without its last term the likelihood is that of `sar-em`.

    References
    ----------
    J. Bekker, P. Robberechts, J. Davis. Beyond the selected completely at random assumption for learning from positive
    and unlabeled data. ECML PKDD 2019.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(600, random_state=0)
    >>> ranker = unskew.make("conf-joint", learning_rate=0.01, max_epochs=30, random_state=0)
    >>> ranker.fit(data.X, data.labeled, confidence=data.confidence).posterior(data.X).shape
    (600,)
    """

    epochs_per_round: int = 1

    name: ClassVar[str] = "conf-joint"
    table_name: ClassVar[str] = "ConfJoint"
    position: ClassVar[int] = 13
    assumption: ClassVar[str] = "SAR"
    needs: ClassVar[tuple[str, ...]] = ("confidence",)
    without_confidence: ClassVar[str] = "and only which rows are labeled counts"
    network_kinds: ClassVar[dict[str, str]] = {"propensity_network": "linear"}
    beyond_paper: ClassVar[bool] = True
    joins_team: ClassVar[bool] = True
    drive: ClassVar[float] = 4.0  # a likelihood that few labels take part in needs larger steps than a ranking

    rules: ClassVar[dict[str, Rule]] = {"epochs_per_round": whole_number(1)}

    def learn(self, data: PUData, held_out: PUData, trainer: Trainer, rng: np.random.RandomState) -> None:
        """Let posterior and propensity take turns; sets both networks, `history_` and `best_epoch_`."""
        records = data, held_out
        turns = _Turns(replace(trainer, keep="last", patience=None, verbose=False), records, rng)
        posterior, propensity = _Side(None, ()), _Side(None, tuple(_constant_propensity(each) for each in records))
        deviation = FIRST_DEVIATION
        history: list[Epoch] = []
        lowest, best = math.inf, 0
        n_rounds = math.ceil(trainer.max_epochs / self.epochs_per_round)
        with progress_bar(self.name, n_rounds, shown=self.verbose) as step:
            for number in range(n_rounds):
                epochs = min(self.epochs_per_round, trainer.max_epochs - number * self.epochs_per_round)
                posterior = turns.posterior(posterior, propensity, deviation, epochs)
                propensity = turns.propensity(propensity, posterior, epochs)
                deviation = _deviation(posterior.scores[0], data)
                pairs = zip(posterior.scores, propensity.scores, records, strict=True)
                losses = [_loss(Logits(*f, *g), record, deviation) for f, g, record in pairs]
                history.append(Epoch(number, *losses))
                if losses[1] < lowest:
                    lowest, best = losses[1], number
                    self.network_, self.propensity_network_ = copy.deepcopy((posterior.network, propensity.network))
                    self.deviation_ = deviation
                step(f"validation loss {losses[1]:.4g}")
                if self.patience and (number - best) * self.epochs_per_round >= self.patience:
                    break
        self.history_, self.best_epoch_ = history, best


Scores = tuple[Tensor, Tensor]
"""Of labeled and of unlabeled rows."""


class _Side(NamedTuple):
    """One of the two networks as it was trained last, None before its first turn, and its scores of both records."""

    trained: Trained | None
    scores: tuple[Scores, ...]

    @property
    def network(self) -> nn.Module:
        assert self.trained is not None
        return self.trained.network


@dataclass(frozen=True)
class _Turns:
    """Each network is trained for some epochs while the other is held."""

    trainer: Trainer
    records: tuple[PUData, PUData]
    rng: np.random.RandomState

    def posterior(self, last: _Side, held: _Side, deviation: float, epochs: int) -> _Side:
        """Train f for so many epochs."""
        return self._train(self.trainer, partial(posterior_risk, deviation=deviation), last, held, epochs)

    def propensity(self, last: _Side, held: _Side, epochs: int) -> _Side:
        """Train g for so many epochs."""
        return self._train(replace(self.trainer, network="linear"), propensity_risk, last, held, epochs)

    def _train(self, trainer: Trainer, risk: Risk, last: _Side, held: _Side, epochs: int) -> _Side:
        pairs = zip(self.records, held.scores, strict=True)
        data, held_out = (replace(each, unlabeled_weight=_prob_of_unlabeled(scores, each)) for each, scores in pairs)
        trained = replace(trainer, max_epochs=epochs).minimize(risk, data, held_out, self.rng, start=last.trained)
        return _Side(trained, tuple(self._scores(trained.network, each) for each in self.records))

    def _scores(self, network: nn.Module, data: PUData) -> Scores:
        rows = np.concatenate([data.labeled_rows, data.unlabeled_rows])
        scores = score_rows(network, data.X, rows, self.trainer.device)
        return scores[: data.n_labeled], scores[data.n_labeled :]


def _prob_of_unlabeled(scores: Scores, data: PUData) -> np.ndarray:
    """Probability that the other network gives the unlabeled rows."""
    prob = torch.sigmoid(scores[1]) if data.share is None else data.share.each(torch.sigmoid, scores[1])
    return np.asarray(prob.numpy())


def _constant_propensity(data: PUData) -> Scores:
    """Scores before there is a network."""
    labeled, unlabeled = (
        torch.full((len(rows),), math.log(FIRST_ODDS)) for rows in (data.labeled_rows, data.unlabeled_rows)
    )
    return labeled, unlabeled


def _deviation(scores: Scores, data: PUData) -> float:
    """How far f is from the logit of the confidence, as a root of the mean square: the most likely one."""
    if data.confidence is None:
        return FIRST_DEVIATION
    return max(LEAST_DEVIATION, float((_target(data) - scores[0].double()).square().mean().sqrt()))


def _loss(logits: Logits, data: PUData, deviation: float) -> float:
    """Negative mean log likelihood."""
    over_workers = {} if data.share is None else {"mean_of_unlabeled": data.share.mean}
    loss = float(observed_loss(Logits(*(each.double() for each in logits)), data.alpha, **over_workers))
    if data.confidence is not None:
        square = float((_target(data) - logits.posterior_labeled.double()).square().mean())
        loss += data.alpha * (square / (2 * deviation**2) + math.log(deviation))
    return loss


def _target(data: PUData) -> Tensor:
    assert data.confidence is not None
    return confidence_logit(torch.from_numpy(np.asarray(data.confidence, dtype=np.float64)))
