"""Progress bars that appear on a terminal, or are followed by another program, and nowhere else."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from unskew._support.text import visible


class Step(Protocol):
    """What a loop calls after each round."""

    def __call__(self, note: str = "", n: int = 1) -> None:
        """Advance by n; `note` is shown after the bar."""


class Follower(Protocol):
    """What follows the bars of a program whose standard error nobody sees."""

    def __call__(self, title: str, done: int, total: int | None, note: str) -> None:
        """Take in how far the bar of this title has come."""


_followers: list[Follower] = []


@contextmanager
def followed_by(follower: Follower) -> Iterator[None]:
    """Send the progress of all bars of this process to `follower` while the block runs, instead of to a terminal."""
    _followers.append(follower)
    try:
        yield
    finally:
        _followers.remove(follower)


@contextmanager
def progress_bar(title: str, total: int | None, *, shown: bool) -> Iterator[Step]:
    """Show a bar while the block runs, if `shown` and standard error is a terminal; a total of None is not known."""
    if shown and _followers:
        yield _sending_to(_followers[-1], title, total)
        return
    if not (shown and sys.stderr.isatty()):
        yield lambda note="", n=1: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),  # brackets in a name are not markup
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(visible(title), total=total, note="")
        yield lambda note="", n=1: bar.update(task, advance=n, note=visible(note))


def _sending_to(follower: Follower, title: str, total: int | None) -> Step:
    done = 0

    def step(note: str = "", n: int = 1) -> None:
        nonlocal done
        done += n
        follower(title, done, total, note)

    follower(title, 0, total, "")
    return step
