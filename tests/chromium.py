"""A headless Chromium driven over a pipe by the DevTools protocol: no client library, no port."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
PATIENCE = 180.0


def find_chromium() -> str | None:
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    """A browser with one tab. Collects what the tab says on the console, what it throws, and what it asks for."""

    def __init__(self, program: str, profile: Path) -> None:
        # The browser reads from descriptor 3 and writes to descriptor 4.
        read_by_browser, self._write = os.pipe()
        self._read, written_by_browser = os.pipe()
        os.set_blocking(self._read, False)

        def hand_over() -> None:
            high = [os.dup2(each, 100 + place) for place, each in enumerate((read_by_browser, written_by_browser))]
            for place, each in enumerate(high):
                os.dup2(each, 3 + place)

        self._process = subprocess.Popen(
            [program, *OPTIONS, f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=hand_over,
            close_fds=False,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for each in (read_by_browser, written_by_browser):
            os.close(each)
        self._buffer, self._number, self._session = b"", 0, None
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self._loaded = False
        self.new_tab()

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            os.write(self._write, json.dumps({"id": 0, "method": "Browser.close"}).encode() + b"\0")
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(10)
        os.close(self._write)
        os.close(self._read)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol and wait for its answer."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def new_tab(self) -> str:
        """Open another tab and use it; returns what it is called by `use_tab`."""
        self._session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        return self._session

    def use_tab(self, tab: str) -> None:
        """Go on in a tab that was opened before."""
        self._session = tab

    def open(self, path: Path, *, scripts: bool = True) -> None:
        """Load a page from disk, and forget what earlier pages did."""
        self.requests, self.complaints = [], []
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.visit(path.resolve().as_uri())

    def visit(self, address: str) -> None:
        """Load a page; what earlier pages did stays noted."""
        self._loaded = False
        self.call("Page.navigate", url=address)
        while not self._loaded:
            self._next()

    def wait_for(self, expression: str) -> None:
        """Wait until a JavaScript expression is true, whatever pages are loaded in between."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            with contextlib.suppress(RuntimeError):  # the page is just being replaced by another
                if self.run(f"document.readyState === 'complete' && Boolean({expression})"):
                    return
            time.sleep(0.05)
        raise TimeoutError(f"{expression} is still not true; the page says: {self.run('document.body.innerText')}")

    def choose_file(self, selector: str, path: Path) -> None:
        """Choose a file in an input, as people do in a dialog."""
        found = self.call("Runtime.evaluate", expression=f"document.querySelector({selector!r})")
        self.call("DOM.setFileInputFiles", files=[str(path.resolve())], objectId=found["result"]["objectId"])

    def show_as(self, width: int, height: int = 900, *, dark: bool = False, mobile: bool = False) -> None:
        """Set the size of the window and the color scheme."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=features)

    def run(self, expression: str) -> Any:
        """Value of a JavaScript expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"].get("description", "unknown"))
        return answer["result"].get("value")

    def screenshot(self, *, whole: bool = True) -> str:
        """The page as PNG, in base64."""
        return self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]

    def _next(self) -> dict[str, Any]:
        end = time.monotonic() + PATIENCE
        while b"\0" not in self._buffer:
            try:
                chunk = os.read(self._read, 1 << 20)
            except BlockingIOError:
                time.sleep(0.005)
                chunk = b""
            self._buffer += chunk
            if time.monotonic() > end:
                raise TimeoutError("Chromium does not answer.")
        line, self._buffer = self._buffer.split(b"\0", 1)
        message = json.loads(line)
        self._note(message.get("method"), message.get("params", {}))
        return message

    def _note(self, method: str | None, content: dict[str, Any]) -> None:
        if method == "Network.requestWillBeSent":
            self.requests.append(content["request"]["url"])
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(f"{content['type']}: {[each.get('value') for each in content['args']]}")
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(str(content["exceptionDetails"]))
        elif method == "Log.entryAdded":
            self.complaints.append(str(content["entry"]["text"]))
        elif method == "Page.loadEventFired":
            self._loaded = True
