"""Between a fitted ranker and its model file."""

import json
import math
import platform
import re
import warnings
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from reprlib import repr as short
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from unskew._support.json_records import build
from unskew._support.modelfile import ModelFile
from unskew._version import __version__
from unskew.data.images import n_columns_of
from unskew.data.rows import as_rows
from unskew.errors import LabelingNotSavedWarning, ModelFileError
from unskew.learning._perceptron import Perceptron
from unskew.learning.boosted_trees import BoostedTrees
from unskew.learning.networks import SCORE_FUNCTIONS, TREES, NetworkChoice, empty_network
from unskew.posterior import PosteriorModel
from unskew.rankers._columns import columns_and_classes, restore_columns_and_classes
from unskew.rankers._header import (
    FUNCTIONS,
    WRITTEN_APART,
    FoldHeader,
    Header,
    MemberHeader,
    require_entry,
)
from unskew.rankers._members import Member
from unskew.rankers._probability import logits_of
from unskew.rankers.labeling import CrossFittedLabeling, LabelingNetwork, estimate_at, mean_labeling

if TYPE_CHECKING:
    from unskew.rankers._base import Ranker


def model_file_of(ranker: "Ranker") -> ModelFile:
    """Everything that a fitted ranker needs to score again, as data."""
    arrays: dict[str, np.ndarray] = {}
    numbers: dict[str, Any] = {}
    for name, value in vars(ranker).items():
        if not name.endswith("_") or name in WRITTEN_APART:
            continue
        if isinstance(value, nn.Module):
            arrays |= _network_arrays(name.removesuffix("_"), value)
        elif isinstance(value, float | int | np.number):
            numbers[name] = None if np.isnan(value) else np.asarray(value).item()  # JSON has no NaN
        else:  # a method from outside could not score from such a file
            raise ValueError(
                f"a model file keeps numbers and networks, but {type(ranker).__name__}.{name} is a "
                f"{type(value).__name__}. Make it one of these, or keep the model with joblib."
            )
    header = {
        "library_version": __version__,
        "written_with": {"python": platform.python_version(), "torch": torch.__version__, "numpy": np.__version__},
        "method": ranker.name,
        "parameters": _plain_parameters(ranker),
        "custom_network": callable(ranker.network),
        "input_shape": ranker.input_shape_,
        "n_features_in": getattr(ranker, "n_features_in_", None),  # images have none, as in scikit-learn
        "feature_names": [str(name) for name in getattr(ranker, "feature_names_in_", [])] or None,
        "training": ranker.training_summary_,
        "history": ranker.history_,
        "numbers": numbers,
        # That of an ensemble is the mean of its members' own.
        "labeling": None if hasattr(ranker, "members_") else _labeling_header(ranker, arrays),
        "members": _members_header(ranker, arrays),
        **columns_and_classes(ranker),
    }
    for word in FUNCTIONS:
        if (function := getattr(ranker, f"{word}_", None)) is not None:
            arrays |= {f"{word}.{name}": value for name, value in function.to_arrays().items()}
    return ModelFile(header, arrays)


def ranker_of(
    model: ModelFile,
    kind: type["Ranker"],
    path: Path,
    network: Callable[..., nn.Module] | None,
    class_of: Callable[[str], type["Ranker"]],
) -> "Ranker":
    """Fitted ranker from what its file holds.

    `network` makes the module of a file whose network was the user's own; `class_of` finds the methods of members.
    """
    try:
        header: Header = build(Header, model.header, "the header")
    except ValueError as error:
        raise _disagreement(path, kind, error) from None
    if header.custom_network:
        if network is None:
            raise ModelFileError(
                f"{path} holds the weights of a network that was passed as a callable, and a model file holds no code. "
                "Pass the same callable: unskew.load(path, network=...)."
            )
        _require_room(network, header.input_shape, model, path)
        empty_network(network, header.input_shape)  # what goes wrong here is not the file's fault
    elif network is not None:
        raise ValueError(
            f"{path} names its own network, one of {', '.join(SCORE_FUNCTIONS)}, but network= was given. Leave it out."
        )
    try:
        ranker = _ranker_from(header, model.arrays, kind, network, class_of)
        _require_working(ranker)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError, MemoryError) as error:
        raise _disagreement(path, kind, error) from error
    return ranker


def _disagreement(path: Path, kind: type["Ranker"], error: Exception) -> ModelFileError:
    found = f"{'' if isinstance(error, ValueError) else f'{type(error).__name__}: '}{error}".rstrip(".")
    return ModelFileError(
        f"{path} must hold a model of the method {kind.name!r} whose parts agree with each other, but they do not: "
        f"{found}. Save the model again, or load it with the version of unskew that wrote it."
    )


def _require_room(network: Callable[..., nn.Module], shape: tuple[int, ...], model: ModelFile, path: Path) -> None:
    """Refuse rows so large that the user's network for them would be larger than the file, before it is built."""
    try:
        with torch.device("meta"):
            state = empty_network(network, shape).state_dict()
    except (RuntimeError, TypeError):  # one that computes with its weights cannot be built without them
        return
    needed, found = (sum(each.nbytes for each in arrays.values()) for arrays in (state, model.arrays))
    if needed > found:
        raise ModelFileError(
            f"the weights in the file must be those of the network {network!r}, which has {needed:,} bytes of them for "
            f"rows of shape {shape}, but {path} holds {found:,}. Pass the callable that the model was fitted with."
        )


def _inputs_of(arrays: Mapping[str, np.ndarray], shape: tuple[int, ...]) -> int:
    """Numbers of a row that a function in closed form takes: those of an earlier version took the pixels of images."""
    n_columns = n_columns_of(shape)
    return n_columns if np.shape(arrays.get("filled", 0)) == (n_columns,) else math.prod(shape)


def _require_working(ranker: "Ranker") -> None:
    """Refuse a model that cannot score: it scores a row of zeros."""
    row = as_rows(np.zeros((1, *ranker.input_shape_), dtype=np.float32))
    with np.errstate(invalid="ignore", over="ignore"):  # an error below
        found = {"score of a row of zeros": float(ranker.scores_at(row)[0])}
        if hasattr(ranker, "posterior_"):
            found["its probability of being positive"] = float(logits_of(ranker.posterior_, row)[0])
        if hasattr(ranker, "labeling_"):
            prob = estimate_at(ranker.labeling_, row, None, ranker.scenario, ranker.training_summary_["alpha"])
            found["its labeling probability"] = float(prob[0])
    # A user's network that standardizes each row divides zero by zero here, and is good for rows that vary.
    if not callable(ranker.network) and not np.isfinite(list(found.values())).all():
        raise ValueError(f"all of this must be finite: {found}")


def _device_here(device: Any) -> str:
    """The device that a model was fitted on or, where torch does not have it, the processor."""
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError):
        warnings.warn(
            f"the model was fitted on the device {device!r}, which torch does not have here: it is loaded to the CPU.",
            UserWarning,
            stacklevel=6,
        )
        return "cpu"
    return str(device)


def _ranker_from(
    header: Header,
    arrays: dict[str, np.ndarray],
    kind: type["Ranker"],
    network: Callable[..., nn.Module] | None,
    class_of: Callable[[str], type["Ranker"]],
) -> "Ranker":
    # JSON knows no tuples; parameters that are sequences are tuples by default.
    parameters: dict[str, Any]
    parameters = {name: tuple(each) if isinstance(each, list) else each for name, each in header.parameters.items()}
    if network is not None:
        parameters["network"] = network
    if isinstance(parameters.get("device"), str):
        parameters["device"] = _device_here(parameters["device"])
    ranker = kind(**parameters)
    ranker.check_parameters()
    for name, value in header.numbers.items():
        setattr(ranker, name, float("nan") if value is None else value)
    ranker.input_shape_ = header.input_shape
    if header.n_features_in is not None:
        ranker.n_features_in_ = header.n_features_in
    if header.feature_names:
        ranker.feature_names_in_ = np.array(header.feature_names, dtype=object)
    restore_columns_and_classes(ranker, header)
    ranker.training_summary_ = dict(vars(header.training))
    ranker.history_ = list(header.history)
    if header.members is not None:
        _attach_members(ranker, header.members, arrays, network, class_of)
        arrays = {name: each for name, each in arrays.items() if not re.match(r"member\d+\.", name)}
    for word in FUNCTIONS:
        if of_function := _arrays_of(word, arrays):
            setattr(
                ranker,
                f"{word}_",
                PosteriorModel.from_arrays(of_function, _inputs_of(of_function, ranker.input_shape_)),
            )
    names = {name.partition(".")[0] for name in arrays} - set(FUNCTIONS)
    of_labeling = {name for name in names if re.fullmatch(r"labeling\d+", name)}
    for name in names - of_labeling:
        if hasattr(ranker, f"{name}_"):
            raise ValueError(f"arrays must be those of networks, but some are called {name!r}")
        choice = ranker.network_kinds.get(name, ranker.network)
        setattr(ranker, f"{name}_", _network_from(arrays, name, choice, ranker.input_shape_, ranker.device))
    described = {f"labeling{number}" for number in range(len(header.labeling or ()))}
    require_entry(
        of_labeling == described, "networks of the labeling model", short(sorted(described)), sorted(of_labeling)
    )
    if header.labeling is not None:
        folds = tuple(_labeling_network(fold, arrays, number, ranker) for number, fold in enumerate(header.labeling))
        ranker.labeling_ = folds[0] if len(folds) == 1 else CrossFittedLabeling(folds)
    return ranker


def _members_header(ranker: "Ranker", arrays: dict[str, np.ndarray]) -> list[dict[str, Any]] | None:
    """Put the members' arrays with the others, and describe each member as a model of its own."""
    if not hasattr(ranker, "members_"):
        return None
    described = []
    for number, member in enumerate(ranker.members_):
        model = model_file_of(member.ranker)
        arrays |= {f"member{number}.{name}": value for name, value in model.arrays.items()}
        header = {name: each for name, each in model.header.items() if name != "method"}
        counts = {name: getattr(member, name) for name in ("center", "spread", "weight", "agreement", "separation")}
        described.append({"method": member.ranker.name, "header": header, **counts})
    return described


def _attach_members(
    ranker: "Ranker",
    described: tuple[MemberHeader, ...],
    arrays: dict[str, np.ndarray],
    network: Callable[..., nn.Module] | None,
    class_of: Callable[[str], type["Ranker"]],
) -> None:
    """Members as a file describes them, and the labeling model that they make together."""
    members = []
    for number, each in enumerate(described):
        header: Header = build(Header, each.header, f"member {number}")
        own = _arrays_of(f"member{number}", arrays)
        inner = _ranker_from(header, own, class_of(each.method), network if header.custom_network else None, class_of)
        same = inner.input_shape_ == ranker.input_shape_
        require_entry(same, "input_shape of a member", f"that of the whole, {ranker.input_shape_}", inner.input_shape_)
        why = each.agreement, each.separation
        members.append(Member(inner, each.center, each.spread, each.weight, *why))
    ranker.members_ = tuple(members)
    labelings = [each.ranker.labeling_ for each in members if hasattr(each.ranker, "labeling_")]
    if len(labelings) == len(members):
        ranker.labeling_ = mean_labeling(labelings)


def _plain_parameters(ranker: "Ranker") -> dict[str, Any]:
    """Parameters that JSON can hold; objects (a callable, a generator, a classifier) are left to their defaults."""
    plain = {}
    for name, value in ranker.get_params(deep=False).items():
        if isinstance(value, np.ndarray | np.generic | tuple | list):
            value = np.asarray(value).tolist()
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError):
            continue
        plain[name] = value
    return plain


def _network_arrays(prefix: str, network: nn.Module) -> dict[str, np.ndarray]:
    return {
        f"{prefix}.{name}": np.asarray(value.detach().cpu().numpy(), order="C")  # numbers stay numbers, of no dimension
        for name, value in network.state_dict().items()
    }


def _arrays_of(prefix: str, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Arrays whose names begin with this word, without it."""
    parts = {name: name.partition(".") for name in arrays}
    return {rest: arrays[name] for name, (first, _, rest) in parts.items() if first == prefix}


def _network_from(
    arrays: dict[str, np.ndarray], prefix: str, choice: NetworkChoice, shape: tuple[int, ...], device: str
) -> nn.Module:
    if choice == TREES:  # arrays alone say how many there are, and of which form
        return BoostedTrees.from_arrays(_arrays_of(prefix, arrays), math.prod(shape)).eval()
    state = {name: torch.from_numpy(value) for name, value in _arrays_of(prefix, arrays).items()}
    own = not callable(choice)
    # What the file claims takes no memory before it is the size of its arrays; then these are the weights, not copied.
    with torch.device("meta") if own else nullcontext():
        network = empty_network(choice, shape)
    _require_fitting(network, state, choice)
    network.load_state_dict(state, assign=own)
    for layer in network.modules():
        if own and isinstance(layer, Perceptron):
            layer.hold_fixed()  # its weights are other ones now
    return network.to(device).eval()


def _require_fitting(network: nn.Module, state: dict[str, torch.Tensor], choice: NetworkChoice) -> None:
    wanted, found = (
        {name: f"{tuple(value.shape)} of {value.dtype}" for name, value in each.items()}
        for each in (network.state_dict(), state)
    )
    if wanted != found:
        raise ValueError(
            f"the weights in the file must be those of the network {choice!r}, {short(wanted)}, but they are "
            f"{short(found)}. Pass the callable that the model was fitted with, if it was one"
        )
    for name, _ in network.named_parameters():  # buffers may hold any number (a mask of minus infinity, for one)
        # The ends are not finite if any weight is not, and finding them takes no memory.
        if state[name].numel() and not all(end.isfinite() for end in state[name].aminmax()):
            raise ValueError(f"the weights of its network must be finite, but some of {name!r} are not")


def _labeling_header(ranker: "Ranker", arrays: dict[str, np.ndarray]) -> list[dict[str, Any]] | None:
    """Put the labeling networks' arrays with the others and describe them; None for what cannot be kept as data."""
    labeling = getattr(ranker, "labeling_", None)
    if labeling is None:
        return None
    folds = labeling.folds if isinstance(labeling, CrossFittedLabeling) else (labeling,)
    lost = _what_no_file_keeps(folds, ranker)
    if lost and not (hasattr(ranker, "network_") or hasattr(ranker, "function_")):
        raise ValueError(
            f"this model scores by its labeling model, {lost}. Fit it with labeling=None to save it, or keep it with "
            "joblib."
        )
    if lost:
        warnings.warn(
            f"the model file is written without its labeling model, {lost}. Scores are not affected; labeling_ will be "
            "missing after loading.",
            LabelingNotSavedWarning,
            stacklevel=4,
        )
        return None
    for number, fold in enumerate(folds):
        arrays |= _network_arrays(f"labeling{number}", fold.network)
    kept = "input_shape", "history", "best_epoch", "alpha", "feature_names"
    return [
        {"network": None if callable(fold.kind) else fold.kind} | {name: getattr(fold, name) for name in kept}
        for fold in folds
    ]


def _what_no_file_keeps(folds: tuple[Any, ...], ranker: "Ranker") -> str:
    """Why a labeling model cannot be kept as data; nothing if it can."""
    if not all(isinstance(fold, LabelingNetwork) for fold in folds):
        return f"a {type(folds[0]).__name__}, and only networks can be kept as plain data"
    if any(callable(fold.kind) and fold.kind is not ranker.network for fold in folds):
        return "a network that another callable made than the ranker's own, and loading takes one callable for both"
    return ""


def _labeling_network(
    fold: FoldHeader, arrays: dict[str, np.ndarray], number: int, ranker: "Ranker"
) -> LabelingNetwork:
    kind = ranker.network if fold.network is None else fold.network
    shape = fold.input_shape or ranker.input_shape_
    fits = math.prod(shape) == math.prod(ranker.input_shape_) and min(shape) > 0
    wanted = f"of the size of its ranker's, {ranker.input_shape_}"
    require_entry(fits, "the shape of a row of the labeling model", wanted, shape)
    network = _network_from(arrays, f"labeling{number}", kind, shape, ranker.device)
    return LabelingNetwork(
        network, kind, shape, ranker.device, list(fold.history), fold.best_epoch, fold.alpha, fold.feature_names
    )
