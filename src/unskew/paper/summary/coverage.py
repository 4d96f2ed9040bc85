"""Which entries rest on fewer runs than the others of their line, and how that is told."""

from collections.abc import Iterable, Mapping

from unskew.paper.summary.statistics import Mean

DAGGER = "†"


def most_seeds(means: Iterable[Mean | None]) -> int:
    """Seeds at the prior that has the most."""
    return max((count for mean in means if mean for count in mean.counts.values()), default=0)


def mark_of(mean: Mean, seeds: int) -> str:
    """A dagger where not every prior has that many seeds."""
    return DAGGER if any(count != seeds for count in mean.counts.values()) else ""


def partial_notes(lines: Mapping[str, Mapping[str, Mean | None]]) -> list[str]:
    """A sentence for every kind of incomplete entry in these lines, with the lines and the columns where it occurs."""
    kinds: dict[tuple[str, str], list[str]] = {}
    for title, means in lines.items():
        for lack, columns in _lacks(means).items():
            kinds.setdefault((lack, ", ".join(columns)), []).append(title)
    return [
        f"{DAGGER} {'all lines' if 1 < len(titles) == len(lines) else '; '.join(titles)} ({columns}): {lack}."
        for (lack, columns), titles in kinds.items()
    ]


def _lacks(means: Mapping[str, Mean | None]) -> dict[str, list[str]]:
    """What is lacking in a line, and in which of its columns."""
    seeds = most_seeds(means.values())
    lacks: dict[str, list[str]] = {}
    for column, mean in means.items():
        if mean and mark_of(mean, seeds):
            lacks.setdefault(_lack(mean, seeds), []).append(column)
    return lacks


def _lack(mean: Mean, seeds: int) -> str:
    text = f"{mean.n} of {seeds * len(mean.counts)} runs"
    missing = ", ".join(format(prior, "g") for prior in mean.missing)
    return f"{text}, none at prior {missing}" if missing else text
