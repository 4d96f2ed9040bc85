"""The command that serves the local web page."""

from pathlib import Path
from typing import Annotated

from typer import Option

from unskew.cli._app import app, say


@app.command(short_help="Do all of this on a local web page, without a terminal.")
def studio(
    folder: Annotated[Path, Option(help="Folder that keeps tables, models and marks.")] = Path("unskew-studio"),
    port: Annotated[int, Option(help="Port on this machine; 0 for any that is free.")] = 0,
    open_browser: Annotated[bool, Option("--open/--no-open", help="Open the page in a browser.")] = True,
    max_upload_mb: Annotated[int, Option(help="Largest file that can be added, in MB.")] = 200,
) -> None:
    """Do all of this on a local web page: add a table, choose its columns, train, look at the list, check rows.

    The page is served to this machine alone, to whoever has the address that is printed. Everything is kept in the
    folder: the next time, it goes on where it was.

    Example: unskew studio --folder cases
    """
    if max_upload_mb < 1:
        raise ValueError(f"--max-upload-mb must be 1 or more, but it is {max_upload_mb}.")
    from unskew.studio.server import run_studio

    run_studio(folder, port=port, most_upload=max_upload_mb << 20, open_browser=open_browser, say=say)
