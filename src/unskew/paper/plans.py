"""Each table and figure of the paper as one value: its settings (one for each run), and how results are shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from unskew.objectives.weights import CLIP

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


@dataclass(frozen=True)
class Setting:
    """A method on one draw of a data set. Two runs of the same setting give the same result."""

    dataset: str
    method: str
    prior: float
    label_freq: float  # share of the positives that are labeled
    seed: int  # of the draw and of the training
    selection: str = "favored"  # positives that labels prefer: "favored" (App. E.1) or by "confidence" (App. F.4)
    transform: str = "power"  # strictly increasing, of the confidence: "power" or "odds" (Sec. 5.3, App. F.7)
    power: float = 1.0  # k of the transform; 1 leaves the confidence as it is
    confidence_noise: float = 0.0  # standard deviation of Gaussian noise (App. F.8)
    labeling_noise: float = 0.0  # the same for the labeling probability (App. F.10)
    clip: float = CLIP  # least labeling probability (App. F.9)
    max_epochs: int = EPOCHS

    def __post_init__(self) -> None:
        if self.power == 1:  # both transforms are the identity then: one setting, not two
            object.__setattr__(self, "transform", "power")

    @property
    def split(self) -> tuple[Any, ...]:
        """What the draw depends on: settings that agree in it share data, confidence and labeling probability."""
        return self.dataset, self.prior, self.label_freq, self.seed, self.selection, self.max_epochs

    @classmethod
    def of_row(cls, row: dict[str, Any]) -> "Setting":
        """The setting that a row of results belongs to."""
        return cls(**{each.name: row[each.name] for each in fields(cls)})


@dataclass(frozen=True)
class Plan:
    """A table or figure.

    It shows data sets in rows and methods in columns, as means alone ("methods") or with standard deviations
    ("spread"); variants in columns ("variants"); curves over `axis` ("curve"); a histogram of weights ("weights"); or
    training times ("times").
    """

    name: str  # what users write: ``unskew reproduce NAME``
    title: str
    source: str  # where it is in the paper
    show: str = "methods"
    datasets: tuple[str, ...] = SIX
    methods: tuple[str, ...] = NINE
    priors: tuple[float, ...] = PRIORS
    label_freq: float = LABEL_FREQ
    fixed_share: float | None = None  # of all instances that is labeled; over the prior, it replaces `label_freq`
    variants: Mapping[str, tuple[float, ...]] = field(default_factory=dict)  # fields of a setting and their values
    base: Mapping[str, Any] = field(default_factory=dict)  # fields of every setting
    axis: str = ""  # field on the horizontal axis of a curve
    extra: tuple[str, ...] = ()  # methods that are run without variants, to compare with
    seeds: int = 10
    max_epochs: int = EPOCHS

    def settings(self) -> list[Setting]:
        """All settings, each once."""
        found = [
            self.setting(dataset, method, prior, seed, changes)
            for seed in range(self.seeds)  # outermost, so that an interrupted plan has whole seeds
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

    def _columns(self) -> list[tuple[str, dict[str, float]]]:
        changes = [{name: value} for name, values in self.variants.items() for value in values]
        varied = [(method, change) for method in self.methods for change in changes or [{}]]
        return varied + [(method, {}) for method in self.extra]

    def only(
        self,
        *,
        datasets: Sequence[str] | None = None,
        methods: Sequence[str] | None = None,
        priors: Sequence[float] | None = None,
        seeds: int | None = None,
        max_epochs: int | None = None,
    ) -> "Plan":
        """The same plan on other data sets, methods, priors, seeds or epochs; what is not given stays."""
        given: dict[str, Any] = {
            "datasets": tuple(datasets) if datasets else None,
            "methods": tuple(methods) if methods else None,
            "extra": () if methods else None,
            "priors": tuple(priors) if priors else None,
            "seeds": seeds,
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
    )
}
