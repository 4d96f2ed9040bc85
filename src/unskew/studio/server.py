"""The server: on this machine alone, on a port of its own, for whoever has the address."""

import secrets
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import uvicorn

from unskew._support.files import require_folder
from unskew.studio.app import make_app
from unskew.studio.site import Site
from unskew.studio.store import Store
from unskew.studio.tasks import Tasks

HOST = "127.0.0.1"


def run_studio(folder: Path, *, port: int, most_upload: int, open_browser: bool, say: Callable[[str], None]) -> None:
    """Serve the studio of a folder until the process is ended."""
    require_folder(folder)
    store = Store(folder).open()
    try:
        with listen(port) as listening:
            token, port = secrets.token_urlsafe(24), listening.getsockname()[1]
            address = f"http://{HOST}:{port}/?token={token}"
            say(f"unskew studio, folder {folder}: {address}")
            say("Stop with Ctrl-C.")
            sys.stdout.flush()  # a program that waits for the address reads a pipe
            if open_browser:
                # A browser that runs in the terminal itself would keep the server waiting.
                threading.Thread(target=webbrowser.open, args=[address], daemon=True).start()
            with suppress(KeyboardInterrupt, SystemExit):  # being stopped is how it ends
                server_of(Site(store, Tasks(), token, most_upload), port).run(sockets=[listening])
    finally:
        store.close()


def server_of(site: Site, port: int) -> uvicorn.Server:
    """A server for a studio on a port that somebody listens on."""
    return uvicorn.Server(
        uvicorn.Config(
            make_app(site, port),
            log_level="warning",
            access_log=False,
            server_header=False,
            ws="none",
            lifespan="on",
            timeout_graceful_shutdown=5,
        )
    )


def listen(port: int) -> socket.socket:
    """A socket on the loopback device, which other machines do not reach."""
    if not 0 <= port < 1 << 16:
        raise ValueError(f"--port must be from 0 (any that is free) to 65535, but it is {port}.")
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if sys.platform != "win32":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
        listening.listen(256)
    except OSError as error:
        listening.close()
        raise ValueError(
            f"--port must be free, but {port} cannot be used: {error.strerror}. Choose another one, or leave it out."
        ) from None
    return listening
