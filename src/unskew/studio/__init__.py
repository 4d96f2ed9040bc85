"""A local web page for people without a terminal: the work of the commands, in a browser.

The server only shows and keeps things: files in one folder (`store`), what runs in other processes (`tasks`), and
pages. What is computed is computed by a process of its own (`work`), with the code of the commands, so that it can be
stopped, and so that the server never loads what trains.
"""

from unskew.errors import MissingExtra

try:
    import python_multipart  # noqa: F401
    import starlette  # noqa: F401
    import uvicorn  # noqa: F401
except ImportError as error:
    raise MissingExtra(
        "the studio needs starlette, uvicorn and python-multipart. Install them: pip install 'unskew[studio]'"
    ) from error
