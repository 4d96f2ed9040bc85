"""Between a fitted ranker and its model file."""

import json
import math
import platform
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn

from unskew._support.modelfile import ModelFile
from unskew._version import __version__
from unskew.data.records import Epoch
from unskew.data.rows import as_rows
from unskew.errors import LabelingNotSavedWarning, ModelFileError
from unskew.learning._perceptron import Perceptron
from unskew.learning.networks import NETWORKS, NetworkChoice, empty_network
from unskew.rankers.labeling import CrossFittedLabeling, LabelingNetwork, estimate_at

if TYPE_CHECKING:
    from unskew.rankers._base import Ranker


def model_file_of(ranker: "Ranker") -> ModelFile:
    """Everything that a fitted ranker needs to score again, as data."""
    arrays: dict[str, np.ndarray] = {}
    fitted = {name: value for name, value in vars(ranker).items() if name.endswith("_")}
    for name, value in fitted.items():
        if isinstance(value, nn.Module):
            arrays |= _network_arrays(name.removesuffix("_"), value)
    header = {
        "library_version": __version__,
        "written_with": {"python": platform.python_version(), "torch": torch.__version__, "numpy": np.__version__},
        "method": ranker.name,
        "parameters": _plain_parameters(ranker),
        "custom_network": callable(ranker.network),
        "input_shape": list(ranker.input_shape_),
        "n_features_in": getattr(ranker, "n_features_in_", None),  # images have none, as in scikit-learn
        "feature_names": [str(name) for name in getattr(ranker, "feature_names_in_", [])] or None,
        "training": ranker.training_summary_,
        "history": [list(epoch) for epoch in ranker.history_],
        "numbers": {
            name: _number(value) for name, value in fitted.items() if isinstance(value, float | int | np.number)
        },
        "labeling": _labeling_header(ranker, arrays, needs_labeling="network_" not in fitted),
    }
    _require_all_kept(ranker, fitted, header)
    return ModelFile(header, arrays)


_WRITTEN_APART = {"labeling_", "classes_", "input_shape_", "feature_names_in_", "training_summary_", "history_"}


def _require_all_kept(ranker: "Ranker", fitted: dict[str, Any], header: dict[str, Any]) -> None:
    """Refuse to write a file from which a method from outside could not score."""
    for name, value in fitted.items():
        if not (isinstance(value, nn.Module) or name in header["numbers"] or name in _WRITTEN_APART):
            raise ValueError(
                f"a model file keeps numbers and networks, but {type(ranker).__name__}.{name} is a "
                f"{type(value).__name__}. Make it one of these, or keep the model with joblib."
            )


def ranker_of(model: ModelFile, kind: type["Ranker"], path: Path, network: Callable[..., nn.Module] | None) -> "Ranker":
    """Fitted ranker from what its file holds; `network` makes the module of a file whose network was the user's own."""
    _require_entries(model.header, path)
    if model.header["custom_network"]:
        if network is None:
            raise ModelFileError(
                f"{path} holds the weights of a network that was passed as a callable, and a model file holds no code. "
                "Pass the same callable: unskew.load(path, network=...)."
            )
        empty_network(network, tuple(model.header["input_shape"]))  # what goes wrong here is not the file's fault
    elif network is not None:
        raise ValueError(f"{path} says itself what its network is, one of {', '.join(NETWORKS)}: leave out network=.")
    try:
        ranker = _ranker_from(model, kind, network)
        _require_working(ranker)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError, MemoryError) as error:
        raise ModelFileError(
            f"{path} must describe a model of the method {kind.name!r} as this version of unskew writes it, but it "
            f"does not ({type(error).__name__}: {error}). Save the model again."
        ) from error
    return ranker


_ENTRIES: dict[str, tuple[type, ...]] = {
    "parameters": (dict,),
    "custom_network": (bool,),
    "input_shape": (list,),
    "n_features_in": (int, type(None)),
    "feature_names": (list, type(None)),
    "training": (dict,),
    "history": (list,),
    "numbers": (dict,),
    "labeling": (list, type(None)),
}


def _require_entries(header: dict[str, Any], path: Path) -> None:
    """Refuse a header in which something is missing or of another kind."""
    for name, kinds in _ENTRIES.items():
        if name not in header or not isinstance(header[name], kinds):
            words = " or ".join(kind.__name__ for kind in kinds)
            raise ModelFileError(
                f"the header of {path} must have an entry {name!r}, a {words}, but "
                f"{'it is ' + repr(header[name])[:80] if name in header else 'there is none'}. Save the model again."
            )
    if not (header["input_shape"] and all(type(size) is int and size > 0 for size in header["input_shape"])):
        raise ModelFileError(f"the sizes of a row in {path} must be above 0, but they are {header['input_shape']}.")
    n_features, names = header["n_features_in"], header["feature_names"]
    if n_features not in (None, header["input_shape"][0]):
        raise ModelFileError(f"{path} must have {header['input_shape'][0]} features, but it says {n_features}.")
    if names and not (len(names) == n_features and all(isinstance(name, str) for name in names)):
        raise ModelFileError(f"{path} must name its {n_features} features, but the names are {names!r:.80}.")


def _require_working(ranker: "Ranker") -> None:
    """Refuse a model that cannot score: it scores a row of zeros."""
    row = as_rows(np.zeros((1, *ranker.input_shape_), dtype=np.float32))
    with np.errstate(invalid="ignore"):  # told below, where it is an error
        found = {"score of a row of zeros": float(ranker._score(row)[0])}
        if hasattr(ranker, "labeling_"):
            prob = estimate_at(ranker.labeling_, row, None, ranker.scenario, ranker.training_summary_["alpha"])
            found["its labeling probability"] = float(prob[0])
    if callable(ranker.network):
        # One that standardizes each row divides zero by zero here, and is a good network for rows that vary.
        _require_finite_weights(ranker)
        found = {}
    found["threshold"] = float(ranker.threshold_)
    if not np.isfinite(list(found.values())).all():
        raise ValueError(f"all of this must be finite: {found}")


def _require_finite_weights(ranker: "Ranker") -> None:
    """Refuse weights that are no numbers; buffers may hold any (a mask of minus infinity, for one)."""
    networks = [each for each in vars(ranker).values() if isinstance(each, nn.Module)]
    networks += [fold.network for fold in _folds(getattr(ranker, "labeling_", None))]
    for network in networks:
        for name, weight in network.named_parameters():
            if not torch.isfinite(weight).all():
                raise ValueError(f"the weights of its network must be finite, but some of {name!r} are not")


def _folds(labeling: Any) -> tuple[Any, ...]:
    """The labeling models of all folds, or the one that there is; none without a labeling model."""
    if labeling is None:
        return ()
    return labeling.folds if isinstance(labeling, CrossFittedLabeling) else (labeling,)


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


def _ranker_from(model: ModelFile, kind: type["Ranker"], network: Callable[..., nn.Module] | None) -> "Ranker":
    header = model.header
    # JSON knows no tuples; parameters that are sequences are tuples by default.
    parameters: dict[str, Any]
    parameters = {name: tuple(each) if isinstance(each, list) else each for name, each in header["parameters"].items()}
    if network is not None:
        parameters["network"] = network
    parameters["device"] = _device_here(parameters.get("device", "cpu"))
    ranker = kind(**parameters)
    ranker.check_parameters()
    for name, value in header["numbers"].items():
        if not name.endswith("_") or name.startswith("_") or not isinstance(value, float | int | None):
            raise ModelFileError(f"numbers of a fitted model end with _, but the file has {name} = {value!r}.")
        setattr(ranker, name, float("nan") if value is None else value)
    ranker.input_shape_ = tuple(header["input_shape"])
    if header["n_features_in"] is not None:
        ranker.n_features_in_ = header["n_features_in"]
    if header["feature_names"]:
        ranker.feature_names_in_ = np.array(header["feature_names"], dtype=object)
    ranker.classes_ = np.array([0, 1])
    ranker.training_summary_ = header["training"]
    ranker.history_ = [Epoch(*row) for row in header["history"]]
    for network_name in _network_names(model.arrays):
        module = _network_from(model.arrays, network_name, ranker.network, ranker.input_shape_, ranker.device)
        setattr(ranker, f"{network_name}_", module)
    labeling = _labeling_from(header["labeling"], model.arrays, ranker)
    if labeling is not None:
        ranker.labeling_ = labeling
    return ranker


def _plain_parameters(ranker: "Ranker") -> dict[str, Any]:
    """Parameters that JSON can hold; objects (a callable, a generator, a classifier) are left to their defaults."""
    plain = {}
    for name, value in ranker.get_params(deep=False).items():
        if isinstance(value, np.ndarray | np.generic):
            value = value.tolist()
        elif isinstance(value, tuple | list):
            value = np.asarray(value).tolist()
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError):
            continue
        plain[name] = value
    return plain


def _number(value: "float | np.number[Any]") -> Any:
    """JSON has no NaN; a frequency that is not known is null."""
    if np.isnan(value):
        return None
    plain: Any = value.item() if isinstance(value, np.number) else value
    return plain


def _network_arrays(prefix: str, network: nn.Module) -> dict[str, np.ndarray]:
    return {
        f"{prefix}.{name}": np.asarray(value.detach().cpu().numpy(), order="C")  # numbers stay numbers, of no dimension
        for name, value in network.state_dict().items()
    }


def _network_names(arrays: dict[str, np.ndarray]) -> set[str]:
    """Names of the ranker's own networks; those of its labeling model are numbered."""
    names = {name.split(".", 1)[0] for name in arrays}
    return {name for name in names if not name.startswith("labeling")}


def _network_from(
    arrays: dict[str, np.ndarray], prefix: str, choice: NetworkChoice, shape: tuple[int, ...], device: str
) -> nn.Module:
    start = len(prefix) + 1
    state = {name[start:]: torch.from_numpy(value) for name, value in arrays.items() if name.startswith(f"{prefix}.")}
    if callable(choice):
        network = empty_network(choice, shape)
        _require_fitting(network, state, choice)
        network.load_state_dict(state)
        return network.to(device).eval()
    with torch.device("meta"):  # sizes that the file claims take no memory before they are those of its arrays
        network = empty_network(choice, shape)
    _require_fitting(network, state, choice)
    network.load_state_dict(state, assign=True)
    for layer in network.modules():
        if isinstance(layer, Perceptron):
            layer.hold_fixed()  # its weights are other ones now
    return network.to(device).eval()


def _require_fitting(network: nn.Module, state: dict[str, torch.Tensor], choice: NetworkChoice) -> None:
    wanted = {name: tuple(value.shape) for name, value in network.state_dict().items()}
    found = {name: tuple(value.shape) for name, value in state.items()}
    if wanted != found:
        raise ModelFileError(
            f"the weights in the file must be those of the network {choice!r}, of shapes {wanted}, but theirs are "
            f"{found}. Pass the callable that the model was fitted with, if it was one."
        )


def _labeling_header(
    ranker: "Ranker", arrays: dict[str, np.ndarray], needs_labeling: bool
) -> list[dict[str, Any]] | None:
    """Put the labeling networks' arrays with the others and describe them; None for what cannot be kept as data."""
    labeling = getattr(ranker, "labeling_", None)
    if labeling is None:
        return None
    folds = _folds(labeling)
    lost = _what_no_file_keeps(folds, ranker)
    if lost and needs_labeling:
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
    return [
        {
            "network": None if callable(fold.kind) else fold.kind,
            "input_shape": list(fold.input_shape),
            "history": [list(epoch) for epoch in fold.history],
            "best_epoch": fold.best_epoch,
            "alpha": fold.alpha,
            "feature_names": None if fold.feature_names is None else list(map(str, fold.feature_names)),
        }
        for fold in folds
    ]


def _what_no_file_keeps(folds: tuple[Any, ...], ranker: "Ranker") -> str:
    """Why a labeling model cannot be kept as data; nothing if it can."""
    if not all(isinstance(fold, LabelingNetwork) for fold in folds):
        return f"a {type(folds[0]).__name__}, and only networks can be kept as plain data"
    if any(callable(fold.kind) and fold.kind is not ranker.network for fold in folds):
        return "a network that another callable made than the ranker's own, and loading takes one callable for both"
    return ""


def _labeling_from(described: list[dict[str, Any]] | None, arrays: dict[str, np.ndarray], ranker: "Ranker") -> Any:
    if described is None:
        return None
    if not described:
        raise ValueError("a labeling model has one network or more, but the file describes none")
    folds = tuple(_labeling_network(fold, arrays, number, ranker) for number, fold in enumerate(described))
    return folds[0] if len(folds) == 1 else CrossFittedLabeling(folds)


def _labeling_network(
    fold: dict[str, Any], arrays: dict[str, np.ndarray], number: int, ranker: "Ranker"
) -> LabelingNetwork:
    kind = ranker.network if fold["network"] is None else fold["network"]
    # Older files have neither shape nor names.
    shape = tuple(fold.get("input_shape", ranker.input_shape_))
    if math.prod(shape) != math.prod(ranker.input_shape_):
        raise ValueError(f"a labeling model takes the rows of its ranker, {ranker.input_shape_}, but its are {shape}")
    return LabelingNetwork(
        _network_from(arrays, f"labeling{number}", kind, shape, ranker.device),
        kind,
        shape,
        ranker.device,
        [Epoch(*row) for row in fold["history"]],
        fold["best_epoch"],
        fold["alpha"],
        tuple(fold["feature_names"]) if fold.get("feature_names") else None,
    )
