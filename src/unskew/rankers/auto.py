"""The library's best: methods from different corners, weighed by how well each predicts left-out confidence."""

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.stats import rankdata
from sklearn.linear_model import LogisticRegression

from unskew.data.holdout import rotating_hold_outs
from unskew.data.records import PUData
from unskew.data.rows import Rows
from unskew.learning.networks import TREES
from unskew.learning.trainer import Trainer
from unskew.objectives.auc import auc
from unskew.objectives.weights import effective_sample_size, inverse_labeling_weight
from unskew.rankers._base import Ranker
from unskew.rankers._columns import knowing_columns_of
from unskew.rankers._members import (
    Member,
    Together,
    count_members,
    fit_members,
    standardized_member,
)

START = {"conf-gp": 0.3, "conf-reg": 0.3, "conf-joint": 0.2, "conf-auc": 0.1, "ntc-linear": 0.1}
"""Methods, and their weights before anything is known of them, where the confidence can be predicted."""
IN_DOUBT = {"conf-gp": 0.3, "conf-reg": 0.1, "conf-joint": 0.15, "conf-auc": 0.05, "ntc-linear": 0.4}
"""The same where it cannot: votes of a few people, noise, labels that are all alike."""
WITHOUT_CONFIDENCE = {"no-conf": 0.5, "ntc-linear": 0.5}
MOST_FROM_AGREEMENT = 3.0
"""How much agreement with the confidence counts, at most: it says nothing of rows that are not labeled."""
BEHIND, FAR_BEHIND, LEAST_SEPARATION = 5.0, 20.0, 0.75
"""How much a method loses that tells positives from the rest less well than the best one, and how much more where it
has less than a share of the best separation above one half."""


class Part(NamedTuple):
    """A method inside `auto`.

    Attributes
    ----------
    method : str
    weight : float
        Of its standardized score.
    agreement : float or None
        How well its scores of left-out rows agree with the confidence of labels, in [-1, 1]; None without confidence,
        or where there are too few labels to leave any out.
    separation : float or None
        AUC of labeled against unlabeled rows that were left out, labels weighted against their bias; None where there
        are too few labels to leave any out.
    """

    method: str
    weight: float
    agreement: float | None
    separation: float | None


@dataclass(kw_only=True, eq=False, repr=False)
class Auto(Ranker):
    r"""Combine methods from different corners, by weights that out-of-fold predictions decide.

    Each method is fitted on `ensemble` rotating hold-outs, the same for all, so that each row has a score by a fit that
    did not learn from it (networks chose their epoch by it). With C the agreement of these scores with the confidence r
    of the n labels, and A their AUC of labeled against unlabeled rows, in which each label has the weight v,

    .. math::
        C = \frac{\sum_{l, m} \mathrm{sign}(s_l - s_m) (r_l - r_m)}{\sum_{l, m} |r_l - r_m|}, \qquad
        v_l = \frac{r_l}{\max(\hat u_l, \tau)}, \qquad n_v = \frac{(\sum_l v_l)^2}{\sum_l v_l^2},

    .. math::
        w \propto w_0 \exp\big\{\min(\sqrt{n}, 3)\, C_+ - \sqrt{n_v}\, \big(5\, (A_{\max} - A)
        + 20\, (\tfrac34 (A_{\max} - \tfrac12) - (A - \tfrac12))_+\big)\big\}

    a method gets the weight w. It starts with the weight :math:`w_0`, which favors regression on the confidence as far
    as some method predicts it, and what tells labeled from unlabeled rows as far as none does. A method that tells
    positives from the rest less well than the best one loses weight, and much less well, nearly all of it: whatever it
    learned from the confidence, its score is not the probability of being positive. The weights v undo the bias of the
    labels as in `conf-auc`; the labeling probability u is a logistic function of the left-out score of `ntc-linear`.

    The score is the weighted mean of the methods' standardized scores. The methods are `conf-gp`, `conf-reg`,
    `conf-joint`, `conf-auc` and `ntc-linear` in the one-sample scenario, the same without `conf-joint` in the
    two-sample scenario, and `no-conf` and `ntc-linear` where there is no confidence.

    Attributes
    ----------
    parts_ : tuple of (method, weight, agreement, separation)
        What was used, and why: the largest weight first.
    out_of_fold_score_ : array of shape (n,)
        Score of each row of the fit, those of `validation` after the others, by fits that did not learn from it and
        with weights that its part of the rows did not decide; NaN for rows in files that were never held out.
    members_ : tuple
        The fitted methods; each has members of its own.

    Notes
    -----
    **Assumption.**
    SAR: labels may favor some kinds of positives. The confidence is about the probability of being positive; how far it
    can be believed is weighed.

    **Use it when.**
    Nothing speaks for another method: it is the first to try.

    **Do not use it when.**
    A single simple function is wanted that one can write down (`conf-reg`, `ntc-linear`), or the paper's own method.

    **Differs from its authors.**
    It is this library's own. Weights that fall exponentially with a loss are those of V. Vovk. Aggregating strategies.
    COLT 1990. The weights to start with were set on draws that no result in `docs/results.md` was judged by.

    References
    ----------
    D. H. Wolpert. Stacked generalization. Neural Networks, 1992.

    Examples
    --------
    >>> import unskew
    >>> data = unskew.datasets.toy.draw(400, random_state=0)
    >>> ranker = unskew.make("auto", random_state=0, ensemble=2).fit(data.X, data.labeled, confidence=data.confidence)
    >>> bool(ranker.score(data.X, data.y) > 0.9), round(sum(part.weight for part in ranker.parts_), 6)
    (True, 1.0)
    """

    ensemble: int = 4

    name: ClassVar[str] = "auto"
    table_name: ClassVar[str] = "Auto"
    position: ClassVar[int] = 12
    assumption: ClassVar[str] = "SAR"
    needs: ClassVar[tuple[str, ...]] = ("confidence",)
    without_confidence: ClassVar[str] = "and labeled rows are told from unlabeled ones"
    holds_out: ClassVar[bool] = False
    beyond_paper: ClassVar[bool] = True

    @property
    def parts_(self) -> tuple[Part, ...]:
        """Methods, their weights and what these rest on, the largest weight first."""
        parts = (Part(each.ranker.name, each.weight, each.agreement, each.separation) for each in self.members_)
        return tuple(sorted(parts, key=lambda part: -part.weight))

    @property
    def takes_missing(self) -> bool:
        """Never: the methods in closed form do not."""
        return False

    def learn_together(
        self, data: PUData, held_out: PUData | None, prior: float | None, rng: np.random.RandomState
    ) -> float:
        """Fit all methods on the same rotating hold-outs, and weigh them."""
        start = WITHOUT_CONFIDENCE if data.confidence is None else START
        seed, n_members = int(rng.randint(2**31 - 1)), count_members(self.ensemble, data)
        members: list[Member] = []
        scores, priors = [], []
        for name, weight in start.items():
            blank = self._blank_part(name)
            if self.scenario not in blank.scenarios:
                continue
            ranker, found = _fit_part(blank, data, prior, np.random.RandomState(seed), n_members)
            members.append(standardized_member(ranker, data, weight))
            scores.append(found.out_of_fold)
            priors.append(found.prior)
        out_of_fold = np.full(len(data.X), np.nan)
        if n_members > 1:
            splits = rotating_hold_outs(data, n_members, np.random.RandomState(seed))  # those of every method
            out_of_fold = _judged(members, scores, splits, out_of_fold, self.clip)
            members = _weighed(members, scores, data, self.clip)
        return self.take_members(Together(tuple(_normalized(members)), out_of_fold, float(np.mean(priors))), data)

    def _blank_part(self, name: str) -> Ranker:
        """An unfitted ranker of another method, with the parameters of this one."""
        from unskew.rankers import make  # the package knows all methods, and this module is a part of it

        ranker = make(name, **{**self.get_params(deep=False), "probability": False})
        if self.network == TREES and not ranker.grows_trees:
            ranker.network = "mlp"
        return knowing_columns_of(self, ranker)

    def learn(self, data: PUData, held_out: PUData, trainer: Trainer, rng: np.random.RandomState) -> None:
        """Nothing beside what the methods learn."""

    def _score(self, X: Rows, rows: np.ndarray | None = None) -> np.ndarray:
        raise AssertionError("its members score")


def _fit_part(
    ranker: Ranker, data: PUData, prior: float | None, rng: np.random.RandomState, n_members: int
) -> tuple[Ranker, Together]:
    """The fitted method and its out-of-fold scores, which are missing where labels are too few to hold any out."""
    if n_members == 1:
        return ranker, Together((), np.full(len(data.X), np.nan), ranker.fit_alone(data, prior, rng))
    found = fit_members(ranker, data, prior, rng, n_members)
    return ranker.finish_with(found, data), found


def agreement_with_confidence(score: np.ndarray, confidence: np.ndarray) -> float:
    r"""How well scores order rows by their confidence, pairs weighted by how far apart these are; in [-1, 1].

    .. math:: C = \frac{\sum_{l, m} \mathrm{sign}(s_l - s_m) (r_l - r_m)}{\sum_{l, m} |r_l - r_m|}

    0 where all confidences are the same. Implements: Eq. (M1).
    """
    by_score, by_confidence = ((2 * rankdata(each) - len(each) - 1) @ confidence for each in (score, confidence))
    return 0.0 if np.ptp(confidence) == 0 else float(by_score / by_confidence)


def _weighed(members: list[Member], scores: list[np.ndarray], data: PUData, clip: float) -> list[Member]:
    """The members with the weights that their out-of-fold scores earn; see `Auto`. Implements: Eq. (M2)."""
    names = [each.ranker.name for each in members]
    against_bias = weight_against_bias(scores[names.index("ntc-linear")], data, clip)
    apart = np.array([_separation(each, data, against_bias) for each in scores])
    agreements: list[float | None] = [None] * len(members)
    agreed, start = np.zeros(len(members)), np.array([each.weight for each in members])
    if data.confidence is not None:
        agreements = [agreement_with_confidence(each[data.labeled_rows], data.confidence) for each in scores]
        agreed = np.maximum(np.array(agreements, dtype=float), 0)
        start = _between(start, [IN_DOUBT[name] for name in names], float(agreed.max()))
    far = np.maximum(LEAST_SEPARATION * (apart.max() - 0.5) - (apart - 0.5), 0)
    lost = np.sqrt(effective_sample_size(against_bias)) * (BEHIND * (apart.max() - apart) + FAR_BEHIND * far)
    log_weight = np.log(start) + min(np.sqrt(data.n_labeled), MOST_FROM_AGREEMENT) * agreed - lost
    shares = np.exp(log_weight - log_weight.max()).tolist()
    return [
        replace(each, weight=share, agreement=agreement, separation=separation)
        for each, share, agreement, separation in zip(members, shares, agreements, apart.tolist(), strict=True)
    ]


def weight_against_bias(score: np.ndarray, data: PUData, clip: float) -> np.ndarray:
    """Confidence over labeling probability, a logistic function of a score; all 1 where the confidence is constant.

    A constant says nothing of where labels are too many, and would only favor what is rarely labeled.
    """
    if data.confidence is None or np.ptp(data.confidence) == 0:
        return np.ones(data.n_labeled)
    column, labeled = _scores_and_labels(score, data)
    model = LogisticRegression().fit(column[:, None], labeled)
    prob = model.predict_proba(score[data.labeled_rows][:, None])[:, 1]
    return inverse_labeling_weight(data.confidence, prob, clip)


def _judged(
    members: list[Member],
    scores: list[np.ndarray],
    splits: list[tuple[PUData, PUData]],
    blank: np.ndarray,
    clip: float,
) -> np.ndarray:
    """Out-of-fold score of all methods together; the part of the rows that is scored does not decide the weights."""
    for rest, held_out in splits:
        rows = np.concatenate([held_out.labeled_rows, held_out.unlabeled_rows])
        weighed = _normalized(_weighed(members, scores, rest, clip))
        blank[rows] = sum(each.weight * score[rows] for each, score in zip(weighed, scores, strict=True))
    return blank


def _between(sure: np.ndarray, in_doubt: list[float], trust: float) -> np.ndarray:
    """Weights between two sets of them, each of which sums to 1."""
    doubt = np.array(in_doubt)
    return np.asarray(trust * sure / sure.sum() + (1 - trust) * doubt / doubt.sum())


def _separation(score: np.ndarray, data: PUData, weight: np.ndarray) -> float:
    """AUC of weighted labeled rows against unlabeled ones."""
    column, labeled = _scores_and_labels(score, data)
    return auc(labeled, column, sample_weight=np.concatenate([weight, np.ones(len(column) - len(weight))]))


def _scores_and_labels(score: np.ndarray, data: PUData) -> tuple[np.ndarray, np.ndarray]:
    """Scores of labeled and then of unlabeled rows, with ones and zeros; of rows in files not all were left out."""
    labeled, unlabeled = score[data.labeled_rows], score[data.unlabeled_rows]
    unlabeled = unlabeled[np.isfinite(unlabeled)]
    return np.concatenate([labeled, unlabeled]), np.repeat([1, 0], [len(labeled), len(unlabeled)])


def _normalized(members: list[Member]) -> list[Member]:
    """The same with weights that sum to 1."""
    total = sum(each.weight for each in members)
    return [replace(each, weight=each.weight / total) for each in members]
