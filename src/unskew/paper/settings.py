"""One run of an experiment: everything that its result depends on, and nothing else."""

from dataclasses import dataclass, fields
from typing import Any

from unskew.objectives.weights import CLIP

EPOCHS = 200
"""At most so many epochs (App. E.3)."""


@dataclass(frozen=True, order=True)
class Setting:
    """A method on one draw of a data set. Two runs of the same setting give the same result.

    Attributes
    ----------
    dataset, method : str
    prior, label_freq : float
        Share of positives, and share of these that are labeled.
    seed : int
        Of the draw and of the training.
    selection : {"favored", "confidence"}
        Which positives labels prefer (App. E.1 or F.4).
    transform : {"power", "odds"}
        Strictly increasing function of the confidence, with `power` k (Sec. 5.3, App. F.7); k = 1 leaves it as it is.
    confidence_noise, labeling_noise : float
        Standard deviations of Gaussian noise on confidence and on labeling probability (App. F.8, F.10).
    clip : float
        Least labeling probability (App. F.9).
    max_epochs : int
    """

    dataset: str
    method: str
    prior: float
    label_freq: float
    seed: int
    selection: str = "favored"
    transform: str = "power"
    power: float = 1.0
    confidence_noise: float = 0.0
    labeling_noise: float = 0.0
    clip: float = CLIP
    max_epochs: int = EPOCHS

    def __post_init__(self) -> None:
        if self.power == 1:  # either transform is the identity then: one setting, not two
            object.__setattr__(self, "transform", "power")

    @property
    def split(self) -> tuple[Any, ...]:
        """What the draw depends on: settings that agree in it share data, confidence and labeling probability."""
        return self.dataset, self.prior, self.label_freq, self.seed, self.selection, self.max_epochs

    @classmethod
    def of_row(cls, row: dict[str, Any]) -> "Setting":
        """The setting that a row of results belongs to."""
        return cls(**{each.name: row[each.name] for each in fields(cls)})
