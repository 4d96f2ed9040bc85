"""Do choices that the paper leaves open explain where our results differ from its own?

    UNSKEW_DATA=folder python benchmarks/paper_choices.py [--dataset mnist] [--methods ntc pusb] [--seeds 3] [--jobs 2]

The draws of the experiments (`unskew reproduce table1`, four priors), on which each method is trained as there and then
with one thing changed: which epoch is kept, how weights begin, size of the steps, size of the batches. The same draws
for all, so that means differ by the choice alone; behind each difference stands its standard error.
"""

import argparse
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from joblib import Parallel, delayed
from torch import nn

from unskew.experiments.execution import Draw
from unskew.experiments.plans import LABEL_FREQ, PRIORS
from unskew.experiments.settings import Setting
from unskew.networks import HIDDEN
from unskew.rankers import Ranker, ranker_class
from unskew.training import Trainer


def begun_by(initialize: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[tuple[int, ...]], nn.Module]:
    """The paper's perceptron with weights drawn by another law, and biases of 0."""

    def network(shape: tuple[int, ...]) -> nn.Module:
        layers = nn.Linear(*shape, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 1)
        for layer in layers[::2]:
            initialize(layer.weight)
            nn.init.zeros_(layer.bias)
        return nn.Sequential(*layers)

    return network


CHOICES: dict[str, dict[str, Any]] = {
    "as in the experiments": {},
    "weights of the last epoch": {"keep": "last"},
    "weights begin by Glorot": {"network": begun_by(nn.init.xavier_uniform_)},
    "weights begin by He": {"network": begun_by(nn.init.kaiming_normal_)},
    "learning rate 1e-3": {"learning_rate": 1e-3},
    "batches of 256": {"batch_size": 256},
}


class KeepsLast:
    """Of any ranker: keep the weights of the last epoch, not those of the lowest validation risk."""

    def _trainer(self) -> Trainer:
        trainer: Trainer = super()._trainer()  # type: ignore[misc]
        return replace(trainer, keep="last")


def changed(name: str, keep: str, parameters: dict[str, Any]) -> Ranker:
    """An unfitted ranker that keeps the best epoch, or the last."""
    kind = ranker_class(name)
    if keep == "last":
        kind = type(f"Last{kind.__name__}", (KeepsLast, kind), {})
    return kind(**parameters)


def run(dataset: str, prior: float, seed: int, names: list[str]) -> list[list[float]]:
    """AUC of each choice and method on one draw."""
    torch.set_num_threads(1)
    draw = Draw(Setting(dataset, names[0], prior, LABEL_FREQ, seed))
    train, held_out = draw.split.train, draw.split.validation
    found = []
    for choice in CHOICES.values():
        parameters = {**draw.training, "prior": prior, "random_state": seed, **choice}
        keep = parameters.pop("keep", "best")
        rankers = [changed(name, keep, parameters) for name in names]
        for ranker in rankers:
            ranker.fit(
                train.X,
                train.y,
                confidence=train.confidence,
                validation=(held_out.X, held_out.y, held_out.confidence),
            )
        found.append([ranker.score(draw.split.test_X, draw.split.test_y) for ranker in rankers])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dataset", default="mnist")
    parser.add_argument("--methods", nargs="+", default=["ntc", "pusb"])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    settings = [(prior, seed) for seed in range(arguments.seeds) for prior in PRIORS]
    runs = Parallel(n_jobs=arguments.jobs)(
        delayed(run)(arguments.dataset, *each, arguments.methods) for each in settings
    )
    aucs = np.array(runs)  # draws, choices, methods
    for place, name in enumerate(arguments.methods):
        print(f"{name} on {arguments.dataset}, mean test AUC of {len(settings)} draws")
        first = aucs[:, 0, place]
        for title, own in zip(CHOICES, aucs[:, :, place].T, strict=True):
            difference = own - first
            error = difference.std(ddof=1) / np.sqrt(len(settings))
            print(f"  {title:28s} {own.mean():.4f}  {difference.mean():+.4f} ± {error:.4f}", flush=True)


if __name__ == "__main__":
    main()
