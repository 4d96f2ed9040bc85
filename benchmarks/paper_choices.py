"""Do choices that the paper leaves open explain where our results differ from its own?

    UNSKEW_DATA=folder python benchmarks/paper_choices.py [--dataset mnist] [--methods ntc pusb]
        [--choices last standardized] [--priors 0.1 0.2] [--seeds 3] [--jobs 2] [--out FILE]

The draws of the experiments (`unskew reproduce table1`; by default its four priors), on which each method is trained as
there and then with one thing changed: which epoch is kept, the scale of the features, how weights begin, size of the
steps, size of the batches. The same instances for all, so that means differ by the choice alone; behind each difference
stands its standard error.
"""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from joblib import Parallel, delayed
from torch import nn

from rows import Row, add_out, save_rows
from unskew import datasets
from unskew.learning.networks import HIDDEN
from unskew.paper.one_draw import Draw
from unskew.paper.plans import EPOCHS, LABEL_FREQ, PRIORS, Setting
from unskew.rankers import Ranker, ranker_class
from unskew.records import RawData


def begun_by(initialize: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[tuple[int, ...]], nn.Module]:
    """The paper's perceptron with weights drawn by another law, and biases of 0."""

    def network(shape: tuple[int, ...]) -> nn.Module:
        layers = nn.Linear(*shape, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 1)
        for layer in layers[::2]:
            initialize(layer.weight)
            nn.init.zeros_(layer.bias)
        return nn.Sequential(*layers)

    return network


@dataclass(frozen=True)
class Choice:
    """One way to train: parameters other than the experiments', the epoch to keep, and the scale of the features."""

    title: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    keep: str = "best"
    standardized: bool = False


AS_THERE = Choice("as in the experiments")
CHOICES = {
    "last": Choice("weights of the last epoch", keep="last"),
    "standardized": Choice("features standardized", standardized=True),
    "both": Choice("features standardized, weights of the last epoch", keep="last", standardized=True),
    "glorot": Choice("weights begin by Glorot", {"network": begun_by(nn.init.xavier_uniform_)}),
    "he": Choice("weights begin by He", {"network": begun_by(nn.init.kaiming_normal_)}),
    "rate": Choice("learning rate 1e-3", {"learning_rate": 1e-3}),
    "batches": Choice("batches of 256", {"batch_size": 256}),
}


def changed(name: str, keep: str, parameters: dict[str, Any]) -> Ranker:
    """An unfitted ranker that keeps the best epoch, or the last."""
    kind = ranker_class(name)
    if keep == "last":
        kind = type(f"Last{kind.__name__}", (kind,), {"keep": "last"})
    return kind(**parameters)


def standardized(name: str) -> str:
    """Add a data set with one mean and one scale taken off all features; returns its name."""

    def read() -> RawData:
        """The same, standardized."""
        raw = datasets.load(name)
        return replace(raw, X=((raw.X - raw.X.mean()) / raw.X.std()).astype(raw.X.dtype))

    own = f"{name}-standardized"
    if own not in datasets.names():
        about = datasets.describe(name)
        datasets.dataset(
            own,
            sizes=about.sizes,
            batch_size=about.batch_size,
            learning_rate=about.learning_rate,
            network=about.network,
        )(read)
    return own


def run(dataset: str, prior: float, seed: int, names: list[str], choices: list[Choice]) -> list[list[float]]:
    """AUC of each choice and method on one draw."""
    torch.set_num_threads(1)
    found = []
    draws = {
        scaled: Draw(Setting(standardized(dataset) if scaled else dataset, names[0], prior, LABEL_FREQ, seed))
        for scaled in {choice.standardized for choice in choices}
    }
    for choice in choices:
        draw = draws[choice.standardized]
        train, held_out = draw.split.train, draw.split.validation
        parameters = {**draw.training, "max_epochs": EPOCHS, "prior": prior, "random_state": seed, **choice.parameters}
        rankers = [changed(name, choice.keep, parameters) for name in names]
        for ranker in rankers:
            ranker.fit(
                train.X,
                train.y,
                confidence=train.confidence,
                validation=(held_out.X, held_out.y, held_out.confidence),
            )
        found.append([ranker.score(draw.split.test_X, draw.split.test_y) for ranker in rankers])
    return found


def rows_of(dataset: str, names: list[str], choices: list[Choice], aucs: np.ndarray) -> list[Row]:
    """What the AUCs of all draws say, shape (draws, choices, methods)."""
    differences = aucs - aucs[:, :1]
    errors = differences.std(axis=0, ddof=1) / np.sqrt(len(aucs))
    return [
        {
            "dataset": dataset,
            "method": name,
            "choice": choice.title,
            "draws": len(aucs),
            "auc": aucs[:, i, j].mean(),
            "difference": differences[:, i, j].mean(),
            "error": errors[i, j],
        }
        for j, name in enumerate(names)
        for i, choice in enumerate(choices)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dataset", default="mnist")
    parser.add_argument("--methods", nargs="+", default=["ntc", "pusb"])
    parser.add_argument("--choices", nargs="+", choices=CHOICES, default=list(CHOICES))
    parser.add_argument("--priors", nargs="+", type=float, default=PRIORS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    add_out(parser)
    arguments = parser.parse_args()
    choices = [AS_THERE, *(CHOICES[name] for name in arguments.choices)]
    aucs = Parallel(n_jobs=arguments.jobs)(
        delayed(run)(arguments.dataset, prior, seed, arguments.methods, choices)
        for seed in range(arguments.seeds)
        for prior in arguments.priors
    )
    rows = rows_of(arguments.dataset, arguments.methods, choices, np.array(aucs))
    for row in rows:
        print(
            f"{row['dataset']} {row['method']:9s} {row['choice']:48s} {row['auc']:.4f}  {row['difference']:+.4f} ± "
            f"{row['error']:.4f}",
            flush=True,
        )
    save_rows(rows, arguments.out)


if __name__ == "__main__":
    main()
