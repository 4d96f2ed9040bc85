"""What do methods rank by that end where every instance gets the same answer: brightness, contrast, or neither?

    UNSKEW_DATA=folder python benchmarks/order_by_brightness.py [--dataset cifar10-h] [--methods ntc nnpu pconf]
        [--prior 0.1] [--seed 0] [--out FILE]

On Cifar10 and Cifar10-H some methods end on the other side of one half than in the paper. A loss that has come down to
the cost of one answer for all no longer depends on the order of scores, and what is left of the order is that of
something simple. Each method is trained on one draw of the experiments, with pixels from 0 to 1 as there and with
pixels standardized. Printed are its test AUC and the rank correlations of its score with the brightness of an image
(mean of its pixels) and with its contrast (their deviation); first the same for these two alone.
"""

import argparse

from scipy.stats import spearmanr

from paper_choices import standardized
from rows import Row, add_out, save_rows
from unskew.learning.threads import one_thread
from unskew.metrics import auc
from unskew.paper.one_draw import Draw, fit_timed
from unskew.paper.plans import LABEL_FREQ, Setting


def order_of(dataset: str, scale: str, methods: list[str], prior: float, seed: int) -> list[Row]:
    """What each method, and brightness and contrast alone, rank by on one draw."""
    name = standardized(dataset) if scale == "standardized" else dataset
    draw = Draw(Setting(name, methods[0], prior, LABEL_FREQ, seed))
    split = draw.split
    pixels = split.test_X.reshape(len(split.test_X), -1)
    simple = {"brightness": pixels.mean(axis=1), "contrast": pixels.std(axis=1)}
    scores = dict(simple) if scale == "as it is" else {}
    for method in methods:
        ranker = draw.unfitted(method)
        fit_timed(ranker, split)
        scores[method] = ranker.decision_function(split.test_X)
    return [
        {
            "dataset": dataset,
            "pixels": scale,
            "prior": prior,
            "seed": seed,
            "score": title,
            "auc": auc(split.test_y, score),
            **{f"correlation with {each}": float(spearmanr(score, value)[0]) for each, value in simple.items()},
        }
        for title, score in scores.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dataset", default="cifar10-h")
    parser.add_argument("--methods", nargs="+", default=["ntc", "nnpu", "pconf"])
    parser.add_argument("--prior", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=0)
    add_out(parser)
    arguments = parser.parse_args()
    rows: list[Row] = []
    with one_thread():
        for scale in ("as it is", "standardized"):
            found = order_of(arguments.dataset, scale, arguments.methods, arguments.prior, arguments.seed)
            for row in found:
                print("  ".join(f"{each:.3f}" if isinstance(each, float) else str(each) for each in row.values()))
            rows += found
    save_rows(rows, arguments.out)


if __name__ == "__main__":
    main()
