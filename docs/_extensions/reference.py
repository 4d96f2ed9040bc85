"""Pages of the reference, written when the site is built: one for each public module, and one for each public name.

What is public is what the package says: `unskew.__all__`, and for each public module its `__all__`, or what it defines
under a name without an underscore.
"""

import importlib
import inspect
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import unskew
from unskew.rankers import Ranker

if TYPE_CHECKING:
    from sphinx.application import Sphinx

OF_RANKERS = ("fit", "decision_function", "predict", "predict_proba", "score", "labeling_prob", "parts_", "encode")
OF_RANKERS += ("save", "to_onnx", "weigh", "risk", "to_score")
PAGES = Path(__file__).parents[1] / "reference"
TITLES = {
    "unskew": "everything that one begins with",
    "checks": "what is wrong with a table",
    "datasets": "data with a truth to compare with",
    "density_ratio": "labeled to all rows, for two samples",
    "diagnostics": "what the weights say about the labels",
    "distributed": "more than one machine",
    "errors": "errors and warnings",
    "metrics": "how good a ranking is, without negatives",
    "posterior": "a probability for every row",
    "pu_risk": "risks of the compared methods",
    "records": "what stages hand to each other",
    "risk": "the AUC risks",
    "scenario": "biased labels for data whose truth is known",
    "surrogates": "losses of a margin",
    "theory": "the paper's bounds",
    "weights": "from confidence to weights",
}


def public_modules() -> dict[str, ModuleType]:
    """Public modules by the name that users import."""
    return {"unskew": unskew} | {name: importlib.import_module(f"unskew.{name}") for name in unskew._MODULES}


def public_names(module: ModuleType) -> list[str]:
    """Functions and classes that a module offers, in alphabetical order."""
    names = getattr(module, "__all__", None)
    if names is None:
        names = [
            name
            for name, value in vars(module).items()
            if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
        ]
    found = {name: getattr(module, name) for name in names}
    return sorted(name for name, value in found.items() if inspect.isclass(value) or inspect.isroutine(value))


def homes() -> dict[object, str]:
    """Each public object with the first full name under which it is found."""
    found: dict[object, str] = {}
    for name, module in public_modules().items():
        for each in public_names(module):
            found.setdefault(getattr(module, each), f"{full_name(name)}.{each}")
    return found


def full_name(name: str) -> str:
    """What users import."""
    return "unskew" if name == "unskew" else f"unskew.{name}"


def page(name: str, module: ModuleType, homes: dict[object, str]) -> str:
    """Page of a module, which lists its names; each of them has a page of its own, though it may be in two lists."""
    heading = f"{full_name(name)}: {TITLES.get(name, 'reference')}"
    lines = [heading, "=" * len(heading), ""]
    if name != "unskew":
        lines += [f".. automodule:: {full_name(name)}", "   :no-members:", ""]
    lines += [f".. currentmodule:: {full_name(name)}", "", ".. autosummary::", "   :toctree: generated"]
    lines += ["   :nosignatures:", ""]
    for each in public_names(module):
        home = homes[getattr(module, each)]
        lines.append(f"   {each}" if home == f"{full_name(name)}.{each}" else f"   ~{home}")
    return "\n".join([*lines, ""])


def name_page(home: str, value: object) -> str:
    """Page of one name."""
    module, _, name = home.rpartition(".")
    lines = [home, "=" * len(home), "", f".. currentmodule:: {module}", ""]
    if not inspect.isclass(value):
        return "\n".join([*lines, f".. autofunction:: {name}", ""])
    lines += [f".. autoclass:: {name}", ""]
    for each, is_property in own_members(value).items():
        lines += [f"   .. {'autoproperty' if is_property else 'automethod'}:: {each}", ""]
    return "\n".join(lines)


def own_members(kind: type) -> dict[str, bool]:
    """Methods and properties that this package defines, and whether they are properties.

    What scikit-learn brings is documented there, and of a ranker only what its users call.
    """
    found = {}
    for name in dir(kind):
        value = inspect.getattr_static(kind, name)
        is_property = isinstance(value, property | cached_property)
        function = getattr(value, "fget", None) or getattr(value, "func", None) if is_property else getattr(kind, name)
        is_ours = str(getattr(function, "__module__", "")).startswith("unskew") and inspect.getdoc(function)
        if is_ours and not name.startswith("_") and (is_property or inspect.isroutine(function)):
            found[name] = is_property
    if issubclass(kind, Ranker):
        return {name: found[name] for name in OF_RANKERS if name in found}
    return found


def index(names: list[str]) -> str:
    """The page that leads to the others."""
    lines = [
        "Reference",
        "=========",
        "",
        "Every public name, each with an example that runs. For the program, type ``unskew --help``, or",
        "``unskew`` with the name of a command and ``--help``.",
        "",
        ".. toctree::",
        "   :maxdepth: 1",
        "",
    ]
    return "\n".join([*lines, *(f"   {name}" for name in names), ""])


def write(_app: "Sphinx", _config: object) -> None:
    """Write the pages before Sphinx looks for them."""
    (PAGES / "generated").mkdir(parents=True, exist_ok=True)
    modules, found = public_modules(), homes()
    texts = {"index": index(list(modules)), **{name: page(name, module, found) for name, module in modules.items()}}
    texts |= {f"generated/{home}": name_page(home, value) for value, home in found.items()}
    for name, text in texts.items():
        path = PAGES / f"{name}.rst"
        if not path.exists() or path.read_text("utf-8") != text:  # else Sphinx would read it again
            path.write_text(text, "utf-8")


def setup(app: "Sphinx") -> dict[str, bool]:
    """Write the pages as soon as the configuration is read."""
    app.connect("config-inited", write, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
