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
from unskew.learning.trainer import Trained, Trainer
from unskew.objectives.joint_risk import confidence_logit, posterior_risk, propensity_risk
from unskew.rankers._em import Logits, observed_loss
from unskew.rankers._two_networks import TwoNetworkRanker

FIRST_PROPENSITY = 0.25
"""Of all rows, before there is a network for it."""
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
    network of the kind `network`, g a linear function, and they take turns: each is trained for some epochs while the
    other is held; then s is computed anew. The score is f; the round with the lowest validation loss is kept. This is
    for the one-sample scenario.

    Parameters
    ----------
    epochs_per_round : int, default=5
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

    epochs_per_round: int = 5

    name: ClassVar[str] = "conf-joint"
    table_name: ClassVar[str] = "ConfJoint"
    position: ClassVar[int] = 13
    assumption: ClassVar[str] = "SAR"
    needs: ClassVar[tuple[str, ...]] = ("confidence",)
    without_confidence: ClassVar[str] = "and only which rows are labeled counts"
    network_kinds: ClassVar[dict[str, str]] = {"propensity_network": "linear"}

    rules: ClassVar[dict[str, Rule]] = {"epochs_per_round": whole_number(1)}

    def learn(self, data: PUData, held_out: PUData, trainer: Trainer, rng: np.random.RandomState) -> None:
        """Let posterior and propensity take turns; sets both networks, `history_` and `best_epoch_`."""
        turn = _Turn(replace(trainer, keep="last", patience=None, verbose=False), data, held_out, rng)
        pair, deviation = _Pair(None, None), FIRST_DEVIATION
        history: list[Epoch] = []
        lowest, best = math.inf, 0
        n_rounds = math.ceil(self.max_epochs / self.epochs_per_round)
        with progress_bar(self.name, n_rounds, shown=self.verbose) as step:
            for number in range(n_rounds):
                left = self.max_epochs - number * self.epochs_per_round
                pair = turn.take(pair, deviation, min(self.epochs_per_round, left))
                deviation = turn.deviation(pair)
                losses = turn.losses(pair, deviation)
                history.append(Epoch(number, *losses))
                if losses[1] < lowest:
                    lowest, best = losses[1], number
                    self.network_, self.propensity_network_ = copy.deepcopy(pair.networks)
                    self.deviation_ = deviation
                step(f"validation loss {losses[1]:.4g}")
                if self.patience and (number - best) * self.epochs_per_round >= self.patience:
                    break
        self.history_, self.best_epoch_ = history, best


class _Pair(NamedTuple):
    """Both networks, as they were trained last; None before the first turn."""

    posterior: Trained | None
    propensity: Trained | None

    @property
    def networks(self) -> tuple[nn.Module, nn.Module]:
        assert self.posterior is not None
        assert self.propensity is not None
        return self.posterior.network, self.propensity.network


@dataclass(frozen=True)
class _Turn:
    """One round after another: the posterior is trained while the propensity is held, and then the other way round."""

    trainer: Trainer
    data: PUData
    held_out: PUData
    rng: np.random.RandomState

    def take(self, pair: _Pair, deviation: float, epochs: int) -> _Pair:
        """Train both for so many epochs."""
        trainer = replace(self.trainer, max_epochs=epochs)
        risk = partial(posterior_risk, deviation=deviation)
        held = self._records_with(pair.propensity)
        posterior = trainer.minimize(risk, *held, self.rng, start=pair.posterior)
        held = self._records_with(posterior)
        linear = replace(trainer, network="linear")
        return _Pair(posterior, linear.minimize(propensity_risk, *held, self.rng, start=pair.propensity))

    def _records_with(self, trained: Trained | None) -> tuple[PUData, PUData]:
        """Both records, with the probability of the network that is held at their unlabeled rows."""
        return self._with(trained, self.data), self._with(trained, self.held_out)

    def _with(self, trained: Trained | None, data: PUData) -> PUData:
        if trained is None:
            prob = np.full(data.n_unlabeled, FIRST_PROPENSITY, dtype=np.float32)
        else:
            prob = torch.sigmoid(self._scores(trained.network, data, data.unlabeled_rows)).numpy()
        return replace(data, unlabeled_weight=prob)

    def _scores(self, network: nn.Module, data: PUData, rows: np.ndarray) -> Tensor:
        return score_rows(network, data.X, rows, self.trainer.device)

    def deviation(self, pair: _Pair) -> float:
        """How far f is from the logit of the confidence, as a root of the mean square: the most likely one."""
        if self.data.confidence is None:
            return FIRST_DEVIATION
        f = self._scores(pair.networks[0], self.data, self.data.labeled_rows)
        return max(LEAST_DEVIATION, float((_target(self.data) - f.double()).square().mean().sqrt()))

    def losses(self, pair: _Pair, deviation: float) -> tuple[float, float]:
        """Negative mean log likelihood of the training and of the held-out rows."""
        first, second = (self._loss(pair, each, deviation) for each in (self.data, self.held_out))
        return first, second

    def _loss(self, pair: _Pair, data: PUData, deviation: float) -> float:
        rows = data.labeled_rows, data.unlabeled_rows
        logits = Logits(*(self._scores(each, data, some).double() for each in pair.networks for some in rows))
        loss = float(observed_loss(logits, data.alpha))
        if data.confidence is not None:
            square = float((_target(data) - logits.posterior_labeled).square().mean())
            loss += data.alpha * (square / (2 * deviation**2) + math.log(deviation))
        return loss


def _target(data: PUData) -> Tensor:
    assert data.confidence is not None
    return confidence_logit(torch.from_numpy(np.asarray(data.confidence, dtype=np.float64)))
