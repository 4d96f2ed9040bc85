"""The command that all others belong to."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer import Option

from unskew._version import __version__

app = typer.Typer(
    help="Rank by how likely positive, from biased positive-unlabeled data with confidence and no negatives.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # its tables cut the names of options short on a terminal of 80 columns
)


def check_seed(seed: int) -> None:
    """Refuse a seed that no generator takes, before anything is made."""
    if not 0 <= seed < 2**32:
        raise ValueError(f"--seed must be a whole number from 0 to {2**32 - 1}, but it is {seed}.")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"unskew {__version__}")
        raise typer.Exit


@contextmanager
def _warnings_as_notes() -> Iterator[None]:
    """Tell the package's own warnings in plain words, without file names and code."""
    from unskew import errors

    def tell(message: Warning | str, *_where: Any, **_more: Any) -> None:
        typer.echo(f"note: {message}", err=True)

    with warnings.catch_warnings():
        for kind in vars(errors).values():
            if isinstance(kind, type) and issubclass(kind, UserWarning):
                warnings.simplefilter("always", kind)
        warnings.showwarning = tell
        yield


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[
        bool, Option("--version", callback=_print_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    context.with_resource(_warnings_as_notes())
