"""What all methods share: the parameters, the fit from table to threshold, prediction, the model file.

Abstract bases stand on this one: `RiskRanker` learns its score by a risk of its own, `LabelingRanker` turns the
labeling probability into a score, `WholeTableRanker` learns in closed form. A method is a concrete class in a file of
its own and fills hooks, which are public words: `weigh` and `risk`, or `to_score`, or `function_of`; rarely `learn`,
`needs_prior` or `check_parameters`. Nobody subclasses a method.
"""

import os
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from unskew._support.modelfile import write_model_file
from unskew._support.parameters import Rule, check_parameters
from unskew.data.frames import names_inside
from unskew.data.holdout import hold_out, pooled
from unskew.data.labels import labeled_by
from unskew.data.records import PUData
from unskew.data.rows import Rows
from unskew.data.validation import SCENARIOS, require_finite_scores
from unskew.learning.networks import NetworkChoice
from unskew.learning.pace import AUTO
from unskew.learning.scoring import score_rows
from unskew.learning.trainer import Trainer
from unskew.objectives.auc import auc
from unskew.objectives.weights import CLIP
from unskew.rankers._columns import knowing_columns_of, rows_of
from unskew.rankers._exporting import Exportable
from unskew.rankers._header import summary_of
from unskew.rankers._labeling_fit import fit_labeling
from unskew.rankers._members import (
    Together,
    combined_score,
    count_members,
    enough_of,
    fit_members,
    mean_history,
)
from unskew.rankers._prior import cut, share_of_positives, warn_impossible, with_room_for_labeled
from unskew.rankers._probability import can_fit_probability, fit_probability, logits_of, require_posterior
from unskew.rankers._reading import read_training, read_validation
from unskew.rankers._rules import RULES
from unskew.rankers._state import model_file_of
from unskew.rankers._training import require_device, require_trees, trainer_of
from unskew.rankers._trees import MayGrowTrees
from unskew.rankers.labeling import estimate_at, mean_labeling


@dataclass(kw_only=True, eq=False, repr=False)
class Ranker(MayGrowTrees, Exportable, ClassifierMixin, BaseEstimator, ABC):
    """Rank instances by how likely they are positive, from labeled and unlabeled ones.

    Parameters
    ----------
    network : {"linear", "kernel", "mlp", "cnn", "trees"} or callable, default="mlp"
        Score function (App. E.3). "trees" boosts them (``unskew[trees]``): `max_epochs` counts rounds, `batch_size` has
        no effect, missing values are allowed. A callable gets the shape of a row and returns a `torch.nn.Module`.
    max_epochs : int or "auto", default="auto"
        Passes over the unlabeled data. "auto" chooses by the number of rows and labels, here and in the next two; the
        fitted ranker (of an ensemble each of its `members_`) has it as `max_epochs_`, `batch_size_`, `learning_rate_`.
    batch_size : int or "auto", default="auto"
        Instances per step, labeled and unlabeled in the ratio of the data.
    learning_rate : float or "auto", default="auto"
        Of Adam, or of boosting.
    patience : int or None, default=None
        Stop after so many epochs without a lower validation risk. None runs all epochs; the best one is kept anyway.
    validation_fraction : float, default=0.2
        Share held out for choosing the epoch when `fit` is given no validation data.
    ensemble : int, default=1
        Fits on so many rotating hold-outs, whose standardized scores are averaged: every label teaches and every label
        judges. Validation data that are passed to `fit` then rotate with the others. Few labels allow fewer fits, two
        labels each.
    n_jobs : int or None, default=None
        Processes that share the fits of an ensemble, as in scikit-learn; -1 takes all cores. The result is the same.
    scenario : {"one-sample", "two-sample"}, default="one-sample"
        One-sample: one sample was drawn and some of its positives were labeled, so that the unlabeled are what
        labeling left over. Two-sample: the unlabeled are a sample of everything, drawn apart from the labeled.
    labeling : None or estimator, default=None
        Estimates the labeling probability. None trains a network like `network`; any classifier with `predict_proba`
        may take its place; a fitted one is used as it is. In the two-sample scenario also `unskew.ULSIF`. A fitted
        ranker lends its own. `clone`, and so every search, unfits a ranker and a classifier, but not the network in
        `labeling_`, nor what is inside `sklearn.frozen.FrozenEstimator`.
    crossfit : int, default=0
        0: labeling probabilities of training data in-sample, as in the paper (trees: 5 folds). k >= 2: out of k folds.
    clip : float, default=0.01
        Labeling probabilities below are raised to it.
    prior : float in (0, 1) or None, default=None
        Share of positives, where it is known. It sets the threshold of `predict`, and some methods train with it. None
        estimates it from the confidence, or without any, for the threshold alone, from the labeling probability.
    probability : bool, default=True
        Learn probabilities from the confidence, for `predict_proba` and for the share of positives; without, that share
        comes from the weights, which is less exact.
    pos_label : number, bool, str or None, default=None
        The value in y that means labeled. None takes the larger of two numbers, or True; words need it.
    device : str, default="cpu"
        Where torch computes.
    random_state : int, RandomState or None, default=None
        Seed of everything random. None draws it from numpy's global generator, the only global one that is touched.
    verbose : bool, default=False
        Show a progress bar, on a terminal.
    """

    network: NetworkChoice = "mlp"
    max_epochs: int | str = AUTO
    batch_size: int | str = AUTO
    learning_rate: float | str = AUTO
    patience: int | None = None
    validation_fraction: float = 0.2
    ensemble: int = 1
    n_jobs: int | None = None
    scenario: str = "one-sample"
    labeling: Any = None
    crossfit: int = 0
    clip: float = CLIP
    prior: float | None = None
    probability: bool = True
    pos_label: Any = None
    device: str = "cpu"
    random_state: Any = None
    verbose: bool = False

    name: ClassVar[str]
    table_name: ClassVar[str]
    position: ClassVar[int] = 1000  # among the methods; those from outside come last
    assumption: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ()
    scenarios: ClassVar[tuple[str, ...]] = SCENARIOS
    uses_labeling: ClassVar[bool] = False
    trains_networks: ClassVar[bool] = True  # on the rows as they are
    holds_out: ClassVar[bool] = True  # whether rows held out choose an epoch
    keep: ClassVar[str] = "best"  # of the epochs: that of the lowest validation risk, or the "last"
    joins_team: ClassVar[bool] = False  # whether workers that hold the rows together can learn it
    beyond_paper: ClassVar[bool] = False  # this library's own: experiments train it as users do
    drive: ClassVar[float] = 1.0  # learning rate over the usual one, where it is chosen by the size of the data
    network_kinds: ClassVar[dict[str, str]] = {}  # of networks that are not of the kind `network`, by their names
    without_confidence: ClassVar[str] = ""

    # Each class lists its own parameters; those of its bases are added.
    rules: ClassVar[dict[str, Rule]] = RULES
    # Pipelines and searches pass `confidence` on to fit by default.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"confidence": True}

    def fit(self, X: Any, y: Any, confidence: Any = None, *, validation: tuple[Any, ...] | None = None) -> Self:
        """Learn a score function.

        Parameters
        ----------
        X : data frame, array or sparse matrix of shape (n, n_features), or images (n, channels, height, width)
            Features; numbers are trained on in float32 as they are, so standardize columns of very different scale
            first. A data frame of pandas or polars may also have words, categories, truth values, dates, times and
            missing values: it is encoded as the command line encodes a file, numbers standardized, and later frames
            are held to its columns, by name. `schema_.describe()` says what became of each column, and which were
            left out and why. In arrays all numbers must be finite.
        y : array of shape (n,)
            1 where an instance is labeled positive, 0 where it is unlabeled; or True and False, any two numbers, of
            which the larger means labeled, or with `pos_label` two words. `predict` gives the same values.
        confidence : array of shape (n,), optional
            How likely each labeled instance is positive, in [0, 1]. Read on labeled rows only; NaN elsewhere is fine.
        validation : tuple (X, y, confidence) or (X, y), optional
            PU data that choose the epoch. If None, a stratified hold-out is split off. `auto`, ensembles and methods in
            closed form learn from them, too: they are more rows then, and no judge of the model.

        Returns
        -------
        self : the fitted estimator; if anything is wrong with the input it is left as it was
        """
        fitted = type(self)(**self.get_params(deep=False))
        fitted._fit(X, y, confidence, validation)
        for name in [each for each in vars(self) if each.endswith("_")]:
            delattr(self, name)
        self.__dict__.update({name: value for name, value in vars(fitted).items() if name.endswith("_")})
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Score of each instance, higher for more likely positive; shape (n,)."""
        check_is_fitted(self)
        return require_finite_scores(self.scores_at(self.read_features(X)))

    @available_if(require_posterior)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of being negative and of being positive, shape (n, 2): learned by `unskew.posterior`.

        It does not come from the score, so it is calibrated whatever that is, and may put two rows in another order.
        """
        positive = expit(logits_of(self.posterior_, self.read_features(X)))
        return np.column_stack([1 - positive, positive])

    def predict(self, X: Any) -> np.ndarray:
        """Class of each instance: positive where the score reaches `threshold_`, as the share of positives does."""
        reached: np.ndarray = self.decision_function(X) >= self.threshold_
        return np.asarray(self.classes_[reached.astype(int)])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """AUC of the scores against `y`, read as the true class, in the values that the labels had.

        Against PU labels this is the AUC of labeled versus unlabeled, which the bias of the labels distorts:
        `unskew.metrics.make_sar_scorer` estimates the true one.
        """
        score = self.decision_function(X)
        truth = y if self.classes_.tolist() == [0, 1] else labeled_by(y, self.classes_)
        return auc(truth, score, sample_weight=sample_weight)

    def labeling_prob(self, X: Any) -> np.ndarray:
        """Labeling probability of each instance before clipping; the density ratio in the two-sample scenario."""
        check_is_fitted(self)
        if not hasattr(self, "labeling_"):
            raise AttributeError(
                "this model has no labeling model: it was fitted without one, because the prior was given and the "
                "method does not use it, or it was loaded from a file that could not hold it. Take that of another "
                "ranker, such as unskew.make('ntc').fit(X, y).labeling_."
            )
        alpha = self.training_summary_["alpha"]
        return require_finite_scores(estimate_at(self.labeling_, self.read_features(X), None, self.scenario, alpha))

    def save(self, path: str | os.PathLike[str], *, notes: dict[str, Any] | None = None) -> None:
        """Write the fitted model, and `notes` that JSON can hold, to a file of data only; `unskew.load` reads it."""
        check_is_fitted(self)
        model = model_file_of(self)
        write_model_file(path, model if notes is None else replace(model, header={**model.header, "notes": notes}))

    @abstractmethod
    def learn(self, data: PUData, held_out: PUData, trainer: Trainer, rng: np.random.RandomState) -> None:
        """Learn the score function; sets `history_` and `best_epoch_`."""

    def scores_at(self, X: Rows, rows: np.ndarray | None = None) -> np.ndarray:
        """Scores of these rows, or of all, by the learned score function or by the members."""
        return combined_score(self.members_, X, rows) if hasattr(self, "members_") else self._score(X, rows)

    def _score(self, X: Rows, rows: np.ndarray | None = None) -> np.ndarray:
        """Scores of these rows, by the learned score function."""
        return score_rows(self.network_, X, rows, self.device).double().numpy()

    def check_request(self, confidence: Any = None) -> None:
        """Refuse parameters, or a fit without what the method needs, before any data are looked at."""
        self.check_parameters()
        require_trees(self)
        if confidence is None and self.prior is None and self.needs_prior():
            raise ValueError(
                f"{type(self).__name__} must know the prior, the share of positives, or estimate it from the "
                "confidence, but neither was given. Pass prior=... to the constructor, or fit(X, y, confidence=...)."
            )

    def _fit(self, X: Any, y: Any, confidence: Any, validation: tuple[Any, ...] | None) -> None:
        self.check_request(confidence)
        data = read_training(self, X, y, confidence)
        rng = check_random_state(self.random_state)
        rotates = self.ensemble > 1 or not self.holds_out
        request = confidence is not None, data.alpha
        held_out = None if validation is None else read_validation(self, validation, *request, decides=not rotates)
        if held_out is not None and rotates:
            data, held_out = pooled(data, held_out), None
        prior = self._learn_probability(data) if self.probability and can_fit_probability(data) else None
        prior = self.learn_together(data, held_out, prior, rng)
        self._finish(data, prior)

    def learn_together(
        self, data: PUData, held_out: PUData | None, prior: float | None, rng: np.random.RandomState
    ) -> float:
        """Learn the score by one fit or by those of an ensemble; returns the share of positives.

        `prior` is that of the posterior; None where there is none.
        """
        n_members = count_members(self.ensemble, data)
        if n_members > 1 and held_out is None:
            return self.take_members(fit_members(self, data, prior, rng, n_members), data)
        train = data
        if held_out is None:
            train, held_out = hold_out(data, self.validation_fraction, rng) if self.holds_out else (data, data)
        return self.learn_once(train, held_out, prior, rng)

    def take_members(self, together: Together, data: PUData) -> float:
        """Score by these members from now on; returns the share of positives."""
        self.members_ = together.members
        self.out_of_fold_score_ = together.out_of_fold
        self.history_, self.best_epoch_ = mean_history(together.members)
        self.training_summary_ = summary_of(data)
        labelings = [each.ranker.labeling_ for each in together.members if hasattr(each.ranker, "labeling_")]
        if len(labelings) == len(together.members):
            self.labeling_: Any = mean_labeling(labelings)
        if not hasattr(self, "prior_") and hasattr(together.members[0].ranker, "prior_"):
            self.show_prior(together.prior, data.alpha)
        return together.prior

    def learn_once(self, train: PUData, held_out: PUData, prior: float | None, rng: np.random.RandomState) -> float:
        """Learn by one fit from records that were split already; returns the share of positives."""
        in_training = held_out is train
        shared = not in_training and held_out.X is train.X
        often = [held_out.labeled_rows, held_out.unlabeled_rows] if shared else []
        train.X.keep(np.concatenate([train.labeled_rows, *often]))
        trainer = trainer_of(self, train)
        # A generator for each stage: with a lent labeling model the score function is trained as without.
        for_labeling, for_score = (np.random.RandomState(rng.randint(2**31 - 1)) for _ in range(2))
        parts = [train] if in_training else [train, held_out]
        if self.uses_labeling or (self.prior is None and prior is None):
            names = names_inside(self)
            # Where all rows teach, the labeling model, which only the cut of `predict` needs, still holds some out.
            pair = (train, held_out) if self.holds_out else hold_out(train, self.validation_fraction, rng)
            request = self.labeling, *pair, trainer, for_labeling, self.crossfit, self.scenario
            self.labeling_, *parts = fit_labeling(*request, feature_names=None if names is None else list(names))
            train, held_out = parts if self.holds_out else (train, held_out)
            parts = parts[:1] if pair[0] is pair[1] else parts
        if prior is None:
            prior = self._find_prior(parts)
        self.learn(train, held_out, trainer, for_score)
        self.training_summary_ = summary_of(train, None if in_training else held_out)
        return prior

    def blank_member(self, seed: int) -> Self:
        """A copy to be fitted to a part of the same data."""
        alone = {"ensemble": 1, "n_jobs": None, "probability": False, "random_state": seed, "verbose": False}
        return knowing_columns_of(self, type(self)(**{**self.get_params(deep=False), **alone}))

    def fit_alone(self, data: PUData, prior: float | None, rng: np.random.RandomState) -> float:
        """Learn from a record that was read already, by one fit; returns the share of positives."""
        self.ensemble = 1
        prior = self.learn_together(data, None, prior, rng)
        self._finish(data, prior, inside=True)
        return prior

    def finish_with(self, together: Together, data: PUData) -> Self:
        """Score by members that were fitted already."""
        self._finish(data, self.take_members(together, data), inside=True)
        return self

    def fit_member(self, train: PUData, held_out: PUData, prior: float | None) -> tuple[Self, float]:
        """Learn from a part of the data, and let another choose the epoch; returns the share of positives, too."""
        if prior is not None:
            self.show_prior(prior, train.alpha)
        prior = self.learn_once(train, held_out, prior, check_random_state(self.random_state))
        self._finish(train, prior, inside=True)
        return self, prior

    def _finish(self, data: PUData, prior: float, *, inside: bool = False) -> None:
        """Set the threshold; inside another ranker nobody predicts by it, and not all of very many rows decide."""
        self.classes_ = getattr(self, "classes_", np.array([0, 1]))  # members have read no labels themselves
        rows = self.rows_for_all(data)
        self.threshold_ = cut(self.scores_at(data.X, enough_of(rows) if inside else rows), prior)  # decision 6

    def rows_for_all(self, data: PUData) -> np.ndarray:
        """Rows of a record that stand for everything: all, or in the two-sample scenario the unlabeled."""
        kinds = [data.unlabeled_rows] if self.scenario == "two-sample" else [data.labeled_rows, data.unlabeled_rows]
        return np.sort(np.concatenate(kinds))

    def check_parameters(self) -> None:
        """Refuse parameters outside their ranges; a method may add checks of its own."""
        check_parameters(self)
        require_device(self.device)
        if self.scenario not in self.scenarios:
            raise ValueError(
                f"{type(self).__name__} is defined for the {' and '.join(self.scenarios)} scenario only, but scenario "
                f"is {self.scenario!r}. Methods for it: see unskew.method_card(name).scenarios."
            )

    def needs_prior(self) -> bool:
        """Whether training needs the prior, with the parameters as they are."""
        return "prior" in self.needs

    def _learn_probability(self, data: PUData) -> float:
        """Share of positives by the posterior, or the known one, which the posterior then keeps."""
        known = None if self.prior is None else with_room_for_labeled(float(self.prior), data, self.scenario)
        found = fit_probability(data, self.scenario, known)
        self.posterior_, self.reliability_ = found.model, found.reliability
        return self.show_prior(found.prior, data.alpha)

    def _find_prior(self, parts: list[PUData]) -> float:
        """Share of positives without a posterior: known, or by the weights."""
        share = share_of_positives(self.prior, parts, self.clip, self.scenario)
        if share.impossible and self.needs_prior():
            warn_impossible(share, type(self).__name__)
        return self.show_prior(share.prior, parts[0].alpha) if share.trusted else share.prior

    def show_prior(self, prior: float, alpha: float) -> float:
        """Set the estimates, which `fit` promises where they can be trusted."""
        self.prior_ = prior
        # Two samples do not determine which share of the positives is labeled.
        self.label_freq_ = alpha / prior if self.scenario == "one-sample" else float("nan")
        return prior

    def read_features(self, X: Any) -> Rows:
        """Features of new rows, as `decision_function` reads them: checked, and encoded where `fit` encoded them."""
        return rows_of(self, X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = getattr(self, "takes_missing", False)
        return tags
