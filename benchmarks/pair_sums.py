"""What does a sum over all pairs cost in linear time, in torch and in LibAUC, and how exact is it?

    python benchmarks/pair_sums.py [--most 10000000] [--full] [--out FILE]

Value and gradients of both sets of scores, float32, one thread for torch and for numpy. Dense torch is the matrix of
all pairs with autograd. Chunked torch is that matrix in blocks with the gradients written out instead of autograd.
LibAUC is its PairwiseAUCLoss, for the logistic surrogate, because it has no sigmoid. Methods take turns in one run, and
the least time counts: other work on the machine only adds to it. In chunks more than 10^9 pairs are measured on a part
of the high scores and scaled up, because the time is proportional to them; such times are marked with a ~. `--full`
measures 10^4 x 10^6 pairs whole, which takes some minutes. Memory is what a call adds at its peak to a process that
holds the scores; it is measured on Linux only, and a few megabytes cannot be distinguished from none.

Errors are those of losses and slopes of some scores of either side against float64, the losses relative to themselves
and the slopes to the largest. Then come: how far LibAUC agrees, the number of pairs at which the linear form overtakes
chunks, and the risk of a batch as the paper has it, Eq. (17), beside the same written plainly in torch.
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import torch
from threadpoolctl import threadpool_limits
from torch import Tensor

from measure import extra_megabytes, in_own_process, least_seconds, log_slope
from rows import Row, Rows, add_out, save_rows
from unskew.objectives.pairs import (
    DENSE_PAIRS,
    DENSE_PAIRS_PER_SCORE,
    SlopesOf,
    Wanted,
    _linear_sums,
    _sums_by_block,
    pair_sum,
)
from unskew.records import ScoredBatch
from unskew.risk import weighted_auc_risk
from unskew.surrogates import SURROGATES, logistic, sigmoid

try:
    from libauc.losses import PairwiseAUCLoss
except ImportError:  # `make bench` installs it
    PairwiseAUCLoss = None

N_HIGH = 10_000
LOW_SIZES = [10**3, 10**4, 10**5, 10**6, 10**7]
GOAL_SIZE = N_HIGH, 10**6
SHARE = 100  # low scores to a high one, where their ratio is fixed
LARGEST_MATRIX, LARGEST_IN_CHUNKS = 10**8, 10**9
PATIENCE = 10.0  # seconds
CHECKED = 16
BATCH, ALPHA, CALLS = (20, 1004), 0.02, 200

Run = Callable[[], object]


def scores(n_high: int, n_low: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """High and low scores that overlap as those of a trained ranker do, and their weights."""
    rng = torch.Generator().manual_seed(0)
    high, low = 2 * torch.randn(n_high, generator=rng) + 3, 2 * torch.randn(n_low, generator=rng)
    return high, low, 1 + 9 * torch.rand(n_high, generator=rng), torch.ones(n_low)


def leaves(n_high: int, n_low: int) -> tuple[Tensor, Tensor, Tensor]:
    """Scores that gradients are wanted of, and the weights of the high ones."""
    high, low, weight, _ = scores(n_high, n_low)
    return high.requires_grad_(), low.requires_grad_(), weight


# The methods. Each makes what a call needs, and gives the call.


def linear_sigmoid(n_high: int, n_low: int) -> Run:
    high, low, weight = leaves(n_high, n_low)
    return lambda: pair_sum(high, low, sigmoid, high_weight=weight).backward()


def linear_logistic(n_high: int, n_low: int) -> Run:
    high, low, _ = leaves(n_high, n_low)
    return lambda: pair_sum(high, low, logistic).backward()


def dense_sigmoid(n_high: int, n_low: int) -> Run:
    high, low, weight = leaves(n_high, n_low)
    return lambda: (weight[:, None] * torch.sigmoid(low - high[:, None])).mean().backward()


def chunked_sigmoid(n_high: int, n_low: int) -> Run:
    return partial(_sums_by_block, *scores(n_high, n_low), sigmoid, Wanted())


def libauc_logistic(n_high: int, n_low: int) -> Run:
    high, low, _, _ = scores(n_high, n_low)
    score, label = torch.cat((high, low)).requires_grad_(), torch.cat((torch.ones(n_high), torch.zeros(n_low)))
    loss = PairwiseAUCLoss("logistic")
    return lambda: loss(score, label).backward()


@dataclass(frozen=True)
class Method:
    """A way to compute a sum over pairs, and the number of pairs up to which it is measured."""

    name: str
    surrogate: str
    new_run: Callable[[int, int], Run]
    most_pairs: int | None = None

    def why_not(self, n_high: int, n_low: int) -> str:
        """Why it is not measured at a size; nothing, where it is."""
        if self.name == "LibAUC" and PairwiseAUCLoss is None:
            return "not installed"
        is_too_large = self.most_pairs is not None and n_high * n_low > self.most_pairs
        return f"more than {self.most_pairs:,d} pairs: a matrix of all of them in memory" if is_too_large else ""


METHODS = [
    Method("unskew", "sigmoid", linear_sigmoid),
    Method("chunked torch", "sigmoid", chunked_sigmoid),
    Method("dense torch", "sigmoid", dense_sigmoid, LARGEST_MATRIX),
    Method("unskew", "logistic", linear_logistic),
    Method("LibAUC", "logistic", libauc_logistic, LARGEST_MATRIX),
]


def measured_high(method: Method, n_high: int, n_low: int, full: bool) -> int:
    """Of how many high scores a method is measured."""
    in_part = method.name == "chunked torch" and n_high * n_low > LARGEST_IN_CHUNKS
    if not in_part or (full and (n_high, n_low) == GOAL_SIZE):
        return n_high
    return max(1, LARGEST_IN_CHUNKS // (5 * n_low))


def size_rows(series: str, n_high: int, n_low: int, full: bool) -> Iterator[Row]:
    """Seconds and extra memory of each method, and the errors of the linear one."""
    size: Row = {"series": series, "n_high": n_high, "n_low": n_low}
    reasons = [method.why_not(n_high, n_low) for method in METHODS]
    methods = [method for method, reason in zip(METHODS, reasons, strict=True) if not reason]
    parts = [measured_high(method, n_high, n_low, full) for method in methods]
    METHODS[0].new_run(2000, 2000)()  # what a first call loads is not counted
    runs = [method.new_run(part, n_low) for method, part in zip(methods, parts, strict=True)]
    times = least_seconds(*runs, patience=PATIENCE)
    for method, part, time in zip(methods, parts, times, strict=True):
        extra = in_own_process(own_extra_megabytes, METHODS.index(method), part, n_low)
        yield {
            **size, "what": "cost", "method": method.name, "surrogate": method.surrogate,
            "seconds": time * n_high / part, "from_part": part < n_high, "extra_mb": extra,
        }  # fmt: skip
    for method, reason in zip(METHODS, reasons, strict=True):
        if reason:
            yield {**size, "what": "cost", "method": method.name, "surrogate": method.surrogate, "why_not": reason}
    yield {**size, "what": "error", "method": "unskew", "surrogate": "sigmoid", **errors(n_high, n_low)}


def own_extra_megabytes(number: int, n_high: int, n_low: int) -> float:
    """Extra peak memory of a method in this process, which has to be a new one."""
    torch.set_num_threads(1)
    with threadpool_limits(1):
        # What a first call loads is not counted. Memory that it leaves behind would be used again and not be counted
        # either: a matrix must be small here, and ours needs none at the larger size.
        warm_up = 2000 if METHODS[number].name == "unskew" else 50
        METHODS[number].new_run(warm_up, warm_up)()
        return extra_megabytes(METHODS[number].new_run(n_high, n_low))


def errors(n_high: int, n_low: int) -> Row:
    """Errors of the losses and slopes of some scores of either side."""
    high, low, a, b = scores(n_high, n_low)
    ours = _linear_sums(high, low, a, b, sigmoid, Wanted())
    some_high, some_low = (torch.linspace(0, n - 1, CHECKED).long() for n in (n_high, n_low))
    exact = [each.double() for each in (high, low, a, b)]
    loss, _, slope_of_high, _ = _sums_by_block(
        exact[0][some_high], exact[1], exact[2][some_high], exact[3], sigmoid, Wanted()
    )
    _, _, _, slope_of_low = _sums_by_block(
        exact[0], exact[1][some_low], exact[2], exact[3][some_low], sigmoid, Wanted()
    )
    slopes = [(ours[2][some_high], slope_of_high), (ours[3][some_low], slope_of_low)]
    return {
        "loss_error": ((ours[0][some_high] - loss).abs() / loss).max().item(),
        "slope_error": max(((mine - other).abs().max() / other.abs().max()).item() for mine, other in slopes),
    }


def print_sizes(series: str, sizes: list[tuple[int, int]], full: bool) -> Rows:
    print(f"{series}\n    high       low  surrogate          method      seconds  extra [MB]", flush=True)
    rows = []
    for n_high, n_low in sizes:
        for row in size_rows(series, n_high, n_low, full):
            rows.append(row)
            print(f"{n_high:8d} {n_low:9d} {row['surrogate']:>10s} {row['method']:>15s} {_result(row)}", flush=True)
    own = [row for row in rows if (row["what"], row["method"], row["surrogate"]) == ("cost", "unskew", "sigmoid")]
    points = [(int(str(row["n_low"])), float(str(row["seconds"]))) for row in own]
    large = [point for point in points if point[0] >= 10**5]
    if len(large) > 1:
        slope = log_slope(*zip(*large, strict=True))
        print(f"slope of log time of unskew with the sigmoid, from 10^5 low scores on: {slope:.2f}")
    return rows


def _result(row: Row) -> str:
    if row["what"] == "error":
        return f"errors: loss {row['loss_error']:.0e}, slope {row['slope_error']:.0e}"
    if "why_not" in row:
        return f"not measured: {row['why_not']}"
    return f"{'~' if row['from_part'] else ' '}{row['seconds']:11.5f} {row['extra_mb']:11.0f}"


def print_agreement() -> Rows:
    """How far our sums agree with LibAUC's, which is a mean."""
    rows: Rows = []
    for name in ("logistic", "squared_hinge") if PairwiseAUCLoss else ():
        high, low, _ = leaves(2000, 2000)
        score, label = torch.cat((high, low)), torch.cat((torch.ones(len(high)), torch.zeros(len(low))))
        theirs = PairwiseAUCLoss(name)(score, label)
        ours = pair_sum(high, low, SURROGATES[name]) / (len(high) * len(low))
        slopes = [torch.cat(torch.autograd.grad(each, (high, low))) for each in (ours, theirs)]
        loss_error = ((ours - theirs).abs() / theirs).item()
        slope_error = ((slopes[0] - slopes[1]).abs().max() / slopes[1].abs().max()).item()
        rows.append(
            {
                "what": "agreement",
                "method": "LibAUC",
                "surrogate": name,
                "n_high": len(high),
                "n_low": len(low),
                "loss_error": loss_error,
                "slope_error": slope_error,
            }  # fmt: skip
        )
        print(f"unskew and LibAUC differ, {name}: loss {loss_error:.0e}, slopes {slope_error:.0e}", flush=True)
    return rows


def print_crossover(names: list[str]) -> Rows:
    """Time in chunks over time in linear form, around the number of pairs at which the dispatch changes over."""
    factors = [0.25, 0.5, 1, 2, 4]
    print("time in chunks over linear time at so many times the pairs where pair_sum changes over:")
    print("      surrogate  dtype    high  " + "  ".join(f"{factor:5g}" for factor in factors))
    rows: Rows = []
    for name in names:
        for dtype, n_high in [(torch.float32, n) for n in (20, 30, 100, 1000)] + [(torch.float64, 100)]:
            some = [crossover_row(name, dtype, n_high, factor) for factor in factors]
            ratios = "  ".join(f"{row['ratio']:5.2f}" for row in some)
            print(f"{name:>15s} {str(dtype)[6:]} {n_high:6d}  {ratios}", flush=True)
            rows += some
    return rows


def crossover_row(name: str, dtype: torch.dtype, n_high: int, factor: float) -> Row:
    # n_high n_low = DENSE_PAIRS + DENSE_PAIRS_PER_SCORE (n_high + n_low)
    n_low = int(factor * (DENSE_PAIRS + DENSE_PAIRS_PER_SCORE * n_high) / (n_high - DENSE_PAIRS_PER_SCORE))
    arguments = *(each.to(dtype) for each in scores(n_high, n_low)), SURROGATES[name], Wanted()
    chunks, linear = least_seconds(lambda: _sums_by_block(*arguments), lambda: _linear_sums(*arguments), turns=7)
    return {
        "what": "crossover", "surrogate": name, "dtype": str(dtype)[6:], "n_high": n_high, "n_low": n_low,
        "crossovers": factor, "ratio": chunks / linear,
    }  # fmt: skip


# The risk of one batch.


def plain_risk(labeled: Tensor, unlabeled: Tensor, weight: Tensor, alpha: float) -> Tensor:
    """Eq. (17) as one would write it in torch."""
    n = len(labeled)
    among_labeled = torch.sigmoid(labeled - labeled[:, None]) * (1 - torch.eye(n))
    to_unlabeled = torch.sigmoid(unlabeled - labeled[:, None])
    first = (weight[:, None] * among_labeled).sum() * alpha / (n * (n - 1))
    return first + (1 - alpha) * (weight[:, None] * to_unlabeled).mean()


def print_batch() -> Rows:
    """Value and slopes of the risk of one batch: as in a training step, through autograd, and written plainly."""
    high, low, weight, _ = scores(*BATCH)
    score, slopes_of = torch.cat((high, low)), SlopesOf(our_risk)

    def batch_of(score: Tensor) -> ScoredBatch:
        return _batch(*torch.split_with_sizes(score, BATCH), weight, ALPHA)

    def in_a_step() -> tuple[Tensor, Tensor]:
        with torch.inference_mode():
            return slopes_of(score, batch_of)

    def by_autograd(risk: Callable[..., Tensor]) -> tuple[Tensor, Tensor]:
        labeled, unlabeled = high.clone().requires_grad_(), low.clone().requires_grad_()
        value = risk(labeled, unlabeled, weight, ALPHA)
        return value, torch.cat(torch.autograd.grad(value, (labeled, unlabeled)))

    forms: dict[str, Callable[[], tuple[Tensor, Tensor]]] = {
        "unskew, in a training step": in_a_step,
        "unskew, through autograd": partial(by_autograd, lambda *parts: our_risk(_batch(*parts))),
        "plain dense torch": partial(by_autograd, plain_risk),
    }
    for form in forms.values():
        for mine, other in zip(form(), by_autograd(plain_risk), strict=True):
            torch.testing.assert_close(mine.detach(), other.detach(), rtol=1e-4, atol=1e-7)
    times = least_seconds(*(partial(_calls, form) for form in forms.values()), turns=20)
    rows: Rows = []
    for name, time in zip(forms, times, strict=True):
        rows.append({"what": "batch", "method": name, "surrogate": "sigmoid", "n_high": BATCH[0], "n_low": BATCH[1]})
        rows[-1] |= {"seconds": time / CALLS, "ratio": time / times[-1]}
        print(
            f"risk at the paper's batch, {BATCH[0]} x {BATCH[1]}: {name} {time / CALLS * 1e6:.0f} us, "
            f"{time / times[-1]:.2f} times the plain dense form",
            flush=True,
        )
    return rows


def our_risk(batch: ScoredBatch) -> Tensor:
    return weighted_auc_risk(batch, sigmoid, "one-sample")


def _batch(labeled: Tensor, unlabeled: Tensor, weight: Tensor, alpha: float) -> ScoredBatch:
    return ScoredBatch(labeled, unlabeled, alpha, weight)


def _calls(run: Run) -> None:
    for _ in range(CALLS):
        run()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--most", type=int, default=LOW_SIZES[-1], help="Most low scores.")
    parser.add_argument("--full", action="store_true", help="10^4 x 10^6 pairs in chunks as a whole.")
    add_out(parser)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    sizes = [n_low for n_low in LOW_SIZES if n_low <= arguments.most]
    with threadpool_limits(1):
        rows = print_batch()
        rows += print_agreement()
        rows += print_sizes("fixed high", [(N_HIGH, n_low) for n_low in sizes], arguments.full)
        rows += print_sizes("fixed share", [(n_low // SHARE, n_low) for n_low in sizes], False)
        rows += print_crossover(["sigmoid", "logistic", "ramp", "squared_hinge", "squared"])
    save_rows(rows, arguments.out)


if __name__ == "__main__":
    main()
