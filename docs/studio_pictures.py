"""Pictures of the studio for its page: walks through it in headless Chromium with the example of claims.

Run: ``python docs/studio_pictures.py``. Needs Chromium, and writes ``docs/images/studio_*.png``.
"""

import base64
import io
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from chromium import Browser, find_chromium  # noqa: E402
from studio_visits import TOKEN, studio_thread  # noqa: E402

SIZE = (1000, 640)


def main() -> None:
    """Take all pictures."""
    program = find_chromium()
    if program is None:
        sys.exit("the pictures need Chromium, but there is none. Install it.")
    with (
        tempfile.TemporaryDirectory() as folder,
        Browser(program, Path(folder) / "profile") as browser,
        studio_thread(Path(folder) / "studio") as client,
    ):
        walk(browser, str(client.base_url).rstrip("/"))


def walk(browser: Browser, base: str) -> None:
    """Take the example of claims, train, look at the list."""
    browser.show_as(*SIZE)
    browser.visit(f"{base}/?token={TOKEN}")
    browser.wait_for("document.querySelector('[data-drop]')")
    take(browser, "start")
    browser.run("document.querySelector('[aria-label=\"Take the example claims\"]').click()")
    browser.wait_for("location.pathname.endsWith('/columns')")
    table = base + browser.run("location.pathname").removesuffix("/columns")
    take(browser, "columns")
    browser.run("document.querySelector('[name=method]').value = 'conf-reg'")
    browser.run("document.querySelector('[value=train]').click()")
    browser.wait_for("location.pathname.endsWith('/result')")
    take(browser, "result")
    browser.visit(f"{table}/list")
    browser.run("document.querySelector('[name=confidence]').value = '0.9'")
    browser.run("document.querySelector('[value=positive]').click()")
    browser.wait_for("document.querySelector('.said').textContent === 'kept'")
    take(browser, "list")


def take(browser: Browser, name: str) -> None:
    """Write what is in sight, in few colors, which makes a small file."""
    from PIL import Image

    picture = Image.open(io.BytesIO(base64.b64decode(browser.screenshot(whole=False))))
    path = ROOT / "docs" / "images" / f"studio_{name}.png"
    picture.convert("RGB").quantize(64).save(path, optimize=True)
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
