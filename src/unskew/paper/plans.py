"""Each table and figure of the paper as one value: its settings (one for each run), and how results are shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from unskew.objectives.weights import CLIP
from unskew.paper.baselines import BASELINES

EPOCHS = 200
"""Most epochs of a run (App. E.3)."""
PRIORS = (0.05, 0.10, 0.15, 0.20)
LABEL_FREQ = 0.1
SIX = ("mnist", "fmnist", "svhn", "cifar10", "diabetes", "blood")
HUMAN = ("cifar10-h", "fmnist-h")
NINE = ("conf-auc", "no-conf", "ntc", "nnpu", "puauc", "pusb", "pg", "pconf", "npu")
NOISE = (0.0, 0.01, 0.05, 0.1, 0.15)
CLIPS = (0.001, 0.005, 0.01, 0.05, 0.1)
POWERS = (0.25, 0.5, 1.0, 2.0, 4.0)
"""The paper shows its values only in a figure; these span a similar range."""
FIXED_SHARE = 0.02
"""Share of labeled instances where their number is fixed, c pi (App. F.1)."""
_UNSEEN_BY_BASELINES = ("transform", "power", "confidence_noise", "levels", "votes", "labeling_noise", "clip")
"""Fields of a setting that change only what baselines do not see."""


@dataclass(frozen=True)
class Setting:
    """A method on one draw of a data set. Two runs of the same setting give the same result."""

    dataset: str
    method: str
    prior: float
    label_freq: float  # share of the positives that are labeled
    seed: int  # of the draw and of the training
    selection: str = "favored"  # positives that labels prefer: "favored" (App. E.1) or by "confidence" (App. F.4)
    source: str = "network"  # what gives the confidence: the paper's "network" or boosted "trees"
    transform: str = "power"  # strictly increasing, of the confidence: "power" or "odds" (Sec. 5.3, App. F.7)
    power: float = 1.0  # k of the transform; 1 leaves the confidence as it is
    confidence_noise: float = 0.0  # standard deviation of Gaussian noise (App. F.8)
    levels: int = 0  # of a coarse confidence, the middles of equal intervals; 0 leaves it as it is
    votes: int = 0  # the confidence is the share of so many votes, each "positive" with probability r; 0 leaves it
    labeling_noise: float = 0.0  # the same for the labeling probability (App. F.10)
    clip: float = CLIP  # least labeling probability (App. F.9)
    max_epochs: int = EPOCHS

    def __post_init__(self) -> None:
        if self.power == 1:  # both transforms are the identity then: one setting, not two
            object.__setattr__(self, "transform", "power")
        if self.dataset in HUMAN:  # annotators give the confidence, whatever else could
            object.__setattr__(self, "source", "network")
        if self.method in BASELINES:  # these see no confidence and no labeling probability
            for name in _UNSEEN_BY_BASELINES:
                object.__setattr__(self, name, getattr(Setting, name))

    @property
    def split(self) -> tuple[Any, ...]:
        """What the draw depends on: settings that agree in it share data, confidence and labeling probability."""
        return self.dataset, self.prior, self.label_freq, self.seed, self.selection, self.source, self.max_epochs

    @classmethod
    def of_row(cls, row: dict[str, Any]) -> "Setting":
        """The setting that a row of results belongs to; a field that came later than the row has its default."""
        return cls(**{each.name: row[each.name] for each in fields(cls) if each.name in row})


@dataclass(frozen=True)
class Plan:
    """A table or figure.

    It shows data sets in rows and methods in columns, as means alone ("methods") or with standard deviations
    ("spread"); variants in columns ("variants"); curves over `axis` ("curve"); a histogram of weights ("weights");
    training times ("times"); or methods in columns for each variant, with their differences ("beyond").
    """

    name: str  # what users write: ``unskew reproduce NAME``
    title: str
    source: str  # where it is in the paper; empty for what the paper does not have
    show: str = "methods"
    datasets: tuple[str, ...] = SIX
    methods: tuple[str, ...] = NINE
    priors: tuple[float, ...] = PRIORS
    label_freq: float = LABEL_FREQ
    fixed_share: float | None = None  # of all instances that is labeled; over the prior, it replaces `label_freq`
    variants: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)  # fields of a setting and their values
    base: Mapping[str, Any] = field(default_factory=dict)  # fields of every setting
    axis: str = ""  # field on the horizontal axis of a curve
    extra: tuple[str, ...] = ()  # methods that are run without variants, to compare with
    seeds: int = 10
    first_seed: int = 0
    max_epochs: int = EPOCHS

    @property
    def seed_numbers(self) -> range:
        """As many seeds as `seeds`, from the first one on."""
        return range(self.first_seed, self.first_seed + self.seeds)

    def settings(self) -> list[Setting]:
        """All settings, each once."""
        found = [
            self.setting(dataset, method, prior, seed, changes)
            for seed in self.seed_numbers  # outermost, so that an interrupted plan has whole seeds
            for dataset in self.datasets
            for prior in self.priors
            for method, changes in self._columns()
        ]
        return list(dict.fromkeys(found))

    def setting(self, dataset: str, method: str, prior: float, seed: int, changes: Mapping[str, Any]) -> Setting:
        """One setting, with a variant's changes."""
        # Rounded, so that at one prior it equals the label frequency of the main experiments, and runs are shared.
        label_freq = self.label_freq if self.fixed_share is None else round(self.fixed_share / prior, 12)
        changed = {**self.base, **changes, "max_epochs": self.max_epochs}
        return Setting(dataset, method, prior, label_freq, seed, **changed)

    def changes(self) -> list[dict[str, Any]]:
        """The field of a setting that each variant changes, with its value."""
        return [{name: value} for name, values in self.variants.items() for value in values]

    def _columns(self) -> list[tuple[str, dict[str, Any]]]:
        varied = [(method, change) for method in self.methods for change in self.changes() or [{}]]
        return varied + [(method, {}) for method in self.extra]

    def only(
        self,
        *,
        datasets: Sequence[str] | None = None,
        methods: Sequence[str] | None = None,
        priors: Sequence[float] | None = None,
        seeds: int | None = None,
        first_seed: int | None = None,
        max_epochs: int | None = None,
    ) -> "Plan":
        """The same plan on other data sets, methods, priors, seeds or epochs; what is not given stays."""
        given: dict[str, Any] = {
            "datasets": tuple(datasets) if datasets else None,
            "methods": tuple(methods) if methods else None,
            "extra": () if methods else None,
            "priors": tuple(priors) if priors else None,
            "seeds": seeds,
            "first_seed": first_seed,
            "max_epochs": max_epochs,
        }
        return replace(self, **{name: value for name, value in given.items() if value is not None})


_BY_PRIOR = "Average test AUC by prior"
_BY_POWER = Plan(
    "transform-power",
    "Average test AUC with confidence transformed by r^k",
    "Sec. 5.3 and App. F.7, first figure",
    "curve",
    methods=("conf-auc", "pconf"),
    variants={"power": POWERS},
    extra=("no-conf",),
    axis="power",
)

PLANS: dict[str, Plan] = {
    plan.name: plan
    for plan in (
        Plan("table1", "Average test AUC over priors, label frequency 0.1", "Table 1"),
        Plan("table1-std", "Average test AUC with standard deviations", "App. F.11", "spread"),
        Plan("table-human", "Average test AUC with confidence from annotators", "Table 2", datasets=HUMAN),
        Plan("c005", "Average test AUC, label frequency 0.05", "App. F.2", label_freq=0.05),
        Plan("c015", "Average test AUC, label frequency 0.15", "App. F.2", label_freq=0.15),
        Plan(
            "confidence-bias",
            "Average test AUC where labels prefer confident positives",
            "App. F.4",
            base={"selection": "confidence"},
        ),
        Plan("times", "Training time in seconds", "App. F.5", "times", datasets=("mnist",)),
        Plan("lbe", "Comparison with LBE", "App. F.6", methods=("conf-auc", "lbe")),
        Plan(
            "noisy-confidence",
            "Average test AUC with Gaussian noise on confidence",
            "App. F.8",
            "variants",
            methods=("conf-auc",),
            variants={"confidence_noise": NOISE},
            extra=("no-conf",),
        ),
        Plan(
            "clipping",
            "Average test AUC by the least labeling probability",
            "App. F.9",
            "variants",
            methods=("conf-auc",),
            variants={"clip": CLIPS},
        ),
        Plan(
            "noisy-labeling",
            "Average test AUC with Gaussian noise on the labeling probability",
            "App. F.10",
            "variants",
            methods=("conf-auc",),
            variants={"labeling_noise": NOISE},
        ),
        Plan("prior", f"{_BY_PRIOR}, label frequency 0.1", "App. F.1, first figure", "curve", axis="prior"),
        Plan(
            "prior-fixed-labeled",
            f"{_BY_PRIOR}, the number of labeled instances fixed",
            "App. F.1, second figure",
            "curve",
            fixed_share=FIXED_SHARE,
            axis="prior",
        ),
        _BY_POWER,
        replace(
            _BY_POWER,
            name="transform-odds",
            title="Average test AUC with confidence transformed by r^k / (r^k + (1 - r)^k)",
            source="App. F.7, second figure",
            base={"transform": "odds"},
        ),
        Plan(
            "weights",
            "Weights of labeled instances",
            "App. F.3",
            "weights",
            datasets=("mnist",),
            methods=("conf-auc",),
            priors=(0.2,),
            base={"clip": CLIP},
        ),
        Plan(
            "beyond",
            "Average test AUC by kind of confidence, beside classifiers of labeled against unlabeled",
            "",
            "beyond",
            datasets=(*SIX, *HUMAN),
            methods=("conf-auc", "auto", "conf-joint", "conf-reg", "conf-gp", *BASELINES),
            variants={
                "power": (1.0, 4.0, 0.25),  # the first is the confidence as it is
                "confidence_noise": (0.15,),
                "levels": (4,),
                "votes": (5,),
                "source": ("trees",),
                "selection": ("confidence",),
            },
            first_seed=10,  # the methods were built on draws of earlier ones
            seeds=5,
        ),
    )
}
