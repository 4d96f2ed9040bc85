r"""Posterior and propensity together, by expectation maximization.

Two networks: h(x) estimates p(y=1|x), e(x) estimates p(o=1|x, y=1), each the sigmoid of its score, a(x) and b(x). An
instance is labeled with probability h(x) e(x). Which unlabeled instances are positive is not known; the expectation
step gives each the probability q(x) that it is, the maximization step fits both networks to that.
"""

import copy
import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from unskew._support.parameters import Rule, whole_number
from unskew._support.progress import progress_bar
from unskew.data.records import Epoch, PUData, ScoredBatch
from unskew.learning.scoring import score_rows
from unskew.learning.trainer import Adam, Trained, Trainer
from unskew.rankers._two_networks import TwoNetworkRanker
from unskew.rankers.labeling import LabelingNetwork, labeling_risk


def positive_prob_of_unlabeled(posterior_logit: Tensor, propensity_logit: Tensor) -> Tensor:
    r"""Probability that an unlabeled instance is positive (expectation step).

    .. math:: q = \frac{h (1 - e)}{1 - h e} = \frac{e^a}{1 + e^a + e^b}, \qquad h = \sigma(a),\ e = \sigma(b)

    Labeled instances have q = 1.
    """
    neither = torch.zeros_like(posterior_logit)
    return torch.softmax(torch.stack([neither, posterior_logit, propensity_logit]), 0)[1]


def posterior_risk(batch: ScoredBatch) -> Tensor:
    r"""Cross entropy of the posterior with q: the same as on data that hold each unlabeled instance twice.

    .. math:: \alpha E_l[\log(1 + e^{-a})] + (1 - \alpha) E_u[q \log(1 + e^{-a}) + (1 - q) \log(1 + e^{a})]
    """
    assert batch.unlabeled_weight is not None
    unlabeled = softplus(batch.unlabeled) - batch.unlabeled_weight * batch.unlabeled
    return batch.alpha * softplus(-batch.labeled).mean() + (1 - batch.alpha) * unlabeled.mean()


def propensity_risk(batch: ScoredBatch) -> Tensor:
    r"""Cross entropy of the propensity with the labels, each instance weighted by its probability q of being positive.

    .. math:: \alpha E_l[\log(1 + e^{-b})] + (1 - \alpha) E_u[q \log(1 + e^{b})]

    Weighted by 1 instead, the propensity would become the labeling probability.
    """
    assert batch.unlabeled_weight is not None
    unlabeled = batch.unlabeled_weight * softplus(batch.unlabeled)
    return batch.alpha * softplus(-batch.labeled).mean() + (1 - batch.alpha) * unlabeled.mean()


class Logits(NamedTuple):
    """Scores a of the posterior and b of the propensity, at the labeled and at the unlabeled instances."""

    posterior_labeled: Tensor
    posterior_unlabeled: Tensor
    propensity_labeled: Tensor
    propensity_unlabeled: Tensor


def _mean(function: Callable[..., Tensor], *values: Tensor) -> Tensor:
    return function(*values).mean()


def observed_loss(logits: Logits, alpha: float, mean_of_unlabeled: Callable[..., Tensor] = _mean) -> Tensor:
    r"""Negative mean log-likelihood of what is observed: labeled with probability h e, unlabeled with 1 - h e.

    .. math:: -\alpha E_l[\log h e] - (1 - \alpha) E_u[\log (1 - h e)]

    Its gradient is that of the two cross entropies with q at the present networks. Where several workers hold the
    unlabeled instances, `mean_of_unlabeled` is the mean of a function over all of them, `Share.mean`.
    """
    labeled = softplus(-logits.posterior_labeled) + softplus(-logits.propensity_labeled)
    unlabeled = mean_of_unlabeled(_unlabeled_loss, logits.posterior_unlabeled, logits.propensity_unlabeled)
    return alpha * labeled.mean() + (1 - alpha) * unlabeled


def _unlabeled_loss(a: Tensor, b: Tensor) -> Tensor:
    """Negative log-probability of being unlabeled, with 1 - h e = (1 + e^a + e^b) / ((1 + e^a) (1 + e^b))."""
    return softplus(a) + softplus(b) - torch.logsumexp(torch.stack([torch.zeros_like(a), a, b]), 0)


@dataclass(kw_only=True, eq=False, repr=False)
class EMRanker(TwoNetworkRanker):
    """A method that estimates posterior and propensity by expectation maximization and ranks by the posterior."""

    epochs_per_round: int = 1

    uses_labeling: ClassVar[bool] = True

    rules: ClassVar[dict[str, Rule]] = {"epochs_per_round": whole_number(1)}

    @abstractmethod
    def converged(self, before: Logits, after: Logits, alpha: float) -> bool:
        """Whether a round has changed the training data's scores so little that another is not worth it."""

    def learn(self, data: PUData, held_out: PUData, trainer: Trainer, rng: np.random.RandomState) -> None:
        """Alternate the two steps; sets both networks, `history_` and `best_epoch_`."""
        one_round = replace(trainer, keep="last", patience=None, verbose=False)
        posterior, propensity = self._pretrained(data, held_out, trainer, rng), None
        inside, outside = (_logits_of_both(posterior.network, None, each, self.device) for each in (data, held_out))
        history: list[Epoch] = []
        lowest, best = math.inf, 0
        n_rounds = math.ceil(trainer.max_epochs / self.epochs_per_round)
        with progress_bar(self.name, n_rounds, shown=self.verbose) as step:
            for number in range(n_rounds):
                weighted = _expectation_step(data, inside), _expectation_step(held_out, outside)
                left = trainer.max_epochs - number * self.epochs_per_round
                one_round = replace(one_round, max_epochs=min(self.epochs_per_round, left))
                posterior = one_round.minimize(posterior_risk, *weighted, rng, start=posterior)
                propensity = one_round.minimize(propensity_risk, *weighted, rng, start=propensity)
                before, networks = inside, (posterior.network, propensity.network)
                inside, outside = (_logits_of_both(*networks, each, self.device) for each in (data, held_out))
                losses = float(observed_loss(inside, data.alpha)), float(observed_loss(outside, held_out.alpha))
                history.append(Epoch(number, *losses))
                if losses[1] < lowest:
                    lowest, best = losses[1], number
                    self.network_, self.propensity_network_ = copy.deepcopy(networks)
                step(f"validation loss {losses[1]:.4g}")
                waited = (number - best) * self.epochs_per_round
                if self.converged(before, inside, data.alpha) or (self.patience and waited >= self.patience):
                    break
        self.history_, self.best_epoch_ = history, best

    def _pretrained(self, data: PUData, held_out: PUData, trainer: Trainer, rng: np.random.RandomState) -> Trained:
        """Posterior to start with: the labeling probability, as if all unlabeled instances were negative."""
        labeling = self.labeling_
        # Networks of one kind but for rows of another shape may have another structure, which no model file would fit.
        wanted = self.network, data.X.shape
        if isinstance(labeling, LabelingNetwork) and (labeling.kind, labeling.input_shape) == wanted:
            network = copy.deepcopy(labeling.network).to(self.device)
        else:
            network = trainer.minimize(labeling_risk, data, held_out, rng, "labeling").network
        return Trained(network, [], 0, Adam(network, trainer.learning_rate))


def _expectation_step(data: PUData, logits: Logits) -> PUData:
    """Expectation step: the data with the probability of being positive as the weight of each unlabeled instance."""
    weight = positive_prob_of_unlabeled(logits.posterior_unlabeled, logits.propensity_unlabeled)
    return replace(data, unlabeled_weight=weight.numpy())


def _logits_of_both(posterior: nn.Module, propensity: nn.Module | None, data: PUData, device: str) -> Logits:
    """Scores of both networks; before there is a second one the propensity is one half everywhere."""
    rows = np.concatenate([data.labeled_rows, data.unlabeled_rows])
    a = score_rows(posterior, data.X, rows, device).double()
    b = torch.zeros_like(a) if propensity is None else score_rows(propensity, data.X, rows, device).double()
    n = data.n_labeled
    return Logits(a[:n], a[n:], b[:n], b[n:])
