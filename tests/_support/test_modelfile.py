"""The model file: scores come back bit by bit, damage is told, nothing in it runs."""

import hashlib
import json
import os
import pickle
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save as torch_arrays
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from torch import nn

import unskew
from quick_fits import QUICK
from unskew._support import modelfile
from unskew._version import __version__
from unskew.errors import LabelingNotSavedWarning, ModelFileError


def fitted(data, name="conf-auc", **parameters):
    ranker = unskew.make(name, **{**QUICK, **parameters})
    return ranker.fit(data.X, data.labeled, confidence=data.confidence)


@pytest.mark.parametrize("name", unskew.methods())
@pytest.mark.parametrize("parameters", [{"network": "mlp"}, {"network": "kernel", "crossfit": 2}])
@pytest.mark.filterwarnings("ignore::unskew.errors.NoEstimateWarning")  # cross-fitted with nine labeled instances
def test_saved_and_loaded_bit_by_bit(name, parameters, toy_data, tmp_path):
    ranker = fitted(toy_data, name, **parameters)
    ranker.save(tmp_path / "model.unskew")
    loaded = unskew.load(tmp_path / "model.unskew")
    assert type(loaded) is type(ranker)
    assert loaded.get_params() == ranker.get_params()
    np.testing.assert_array_equal(loaded.decision_function(toy_data.X), ranker.decision_function(toy_data.X))
    np.testing.assert_array_equal(loaded.predict(toy_data.X), ranker.predict(toy_data.X))
    np.testing.assert_array_equal(loaded.predict_proba(toy_data.X), ranker.predict_proba(toy_data.X))
    if unskew.method_card(name).uses_labeling:
        np.testing.assert_array_equal(loaded.labeling_prob(toy_data.X), ranker.labeling_prob(toy_data.X))
    numbers = "threshold_", "prior_", "label_freq_", "reliability_", "n_features_in_"
    for attribute in (*numbers, "training_summary_", "input_shape_"):
        assert getattr(loaded, attribute) == getattr(ranker, attribute)
    assert loaded.history_ == ranker.history_
    assert loaded.best_epoch_ == ranker.best_epoch_


def test_images_names_and_two_samples_come_back(tmp_path, toy_data):
    import pandas as pd

    frame = pd.DataFrame(toy_data.X, columns=["left", "right"])
    ranker = unskew.make("no-conf", scenario="two-sample", **QUICK).fit(frame, toy_data.labeled)
    ranker.save(tmp_path / "model")
    loaded = unskew.load(tmp_path / "model")
    assert list(loaded.feature_names_in_) == ["left", "right"]
    with pytest.raises(ValueError, match="feature names should match"):
        loaded.predict(frame.rename(columns={"left": "other"}))
    rng = np.random.RandomState(0)
    images, y = rng.uniform(size=(40, 1, 16, 16)), np.repeat([1, 0], [10, 30])
    ranker = unskew.make("no-conf", network="cnn", max_epochs=1, random_state=0).fit(images, y)
    ranker.save(tmp_path / "model")
    np.testing.assert_array_equal(
        unskew.load(tmp_path / "model").decision_function(images), ranker.decision_function(images)
    )


def test_a_users_network_needs_its_callable(toy_data, tmp_path):
    def network(shape):
        return nn.Linear(shape[0], 1)

    ranker = fitted(toy_data, network=network)
    ranker.save(tmp_path / "model")
    with pytest.raises(ModelFileError, match=r"holds no code. Pass the same callable: unskew.load\(path, network="):
        unskew.load(tmp_path / "model")
    loaded = unskew.load(tmp_path / "model", network=network)
    np.testing.assert_array_equal(loaded.decision_function(toy_data.X), ranker.decision_function(toy_data.X))
    fitted(toy_data).save(tmp_path / "model")
    with pytest.raises(ValueError, match=r"names its own network"):
        unskew.load(tmp_path / "model", network=network)


def test_a_classifier_as_labeling_model_is_left_out_and_told(toy_data, tmp_path):
    ranker = fitted(toy_data, labeling=LogisticRegression())
    with pytest.warns(LabelingNotSavedWarning, match="without its labeling model, a LogisticRegression"):
        ranker.save(tmp_path / "model")
    loaded = unskew.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.decision_function(toy_data.X), ranker.decision_function(toy_data.X))
    assert not hasattr(loaded, "labeling_")
    with pytest.raises(AttributeError, match="has no labeling model"):
        loaded.labeling_prob(toy_data.X)
    with pytest.raises(ValueError, match="scores by its labeling model, a LogisticRegression, and only networks"):
        fitted(toy_data, "ntc", labeling=LogisticRegression()).save(tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_a_lent_network_of_another_kind_comes_back(toy_data, tmp_path):
    lent = fitted(toy_data, "ntc", network="linear")
    ranker = fitted(toy_data, network="mlp", labeling=lent)
    ranker.save(tmp_path / "model")
    loaded = unskew.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.labeling_prob(toy_data.X), ranker.labeling_prob(toy_data.X))
    np.testing.assert_array_equal(loaded.decision_function(toy_data.X), ranker.decision_function(toy_data.X))


def test_a_lent_network_of_another_callable_is_left_out_and_told(toy_data, tmp_path):
    def tanh(shape):
        return nn.Sequential(nn.Linear(shape[0], 3), nn.Tanh(), nn.Linear(3, 1))

    def relu(shape):
        return nn.Sequential(nn.Linear(shape[0], 3), nn.ReLU(), nn.Linear(3, 1))

    lent = fitted(toy_data, "ntc", network=tanh)
    for network, given in ((relu, {"network": relu}), ("mlp", {})):
        ranker = fitted(toy_data, network=network, labeling=lent)
        with pytest.warns(LabelingNotSavedWarning, match="a network that another callable made than the ranker's own"):
            ranker.save(tmp_path / "model")
        loaded = unskew.load(tmp_path / "model", **given)
        np.testing.assert_array_equal(loaded.decision_function(toy_data.X), ranker.decision_function(toy_data.X))
        assert not hasattr(loaded, "labeling_")
    with pytest.raises(ValueError, match="scores by its labeling model, a network that another callable made"):
        fitted(toy_data, "pg", network=relu, labeling=lent).save(tmp_path / "other")
    same = fitted(toy_data, network=tanh, labeling=lent)
    same.save(tmp_path / "model")
    loaded = unskew.load(tmp_path / "model", network=tanh)
    np.testing.assert_array_equal(loaded.labeling_prob(toy_data.X), same.labeling_prob(toy_data.X))


def test_a_network_lent_by_a_ranker_of_images_comes_back(tmp_path):
    images, y = np.random.RandomState(0).uniform(size=(40, 1, 4, 4)), np.repeat([1, 0], [10, 30])
    quick = {"network": "mlp", "max_epochs": 1, "random_state": 0}
    lent = unskew.make("ntc", **quick).fit(images, y).labeling_
    ranker = unskew.make("no-conf", labeling=lent, **quick).fit(images.reshape(40, 16), y)
    ranker.save(tmp_path / "model")
    loaded, rows = unskew.load(tmp_path / "model"), images.reshape(40, 16)
    np.testing.assert_array_equal(loaded.labeling_prob(rows), ranker.labeling_prob(rows))
    assert loaded.labeling_.input_shape == (1, 4, 4)


@pytest.mark.parametrize("sparse_rows", [False, True])
@pytest.mark.parametrize("name", ["no-conf", "ntc", "lbe"])
def test_networks_are_lent_between_tables_and_images(name, sparse_rows, tmp_path):
    images, y = np.random.RandomState(0).uniform(size=(40, 1, 16, 16)), np.repeat([1, 0], [10, 30])
    flat = sparse.csr_matrix(images.reshape(40, 256)) if sparse_rows else images.reshape(40, 256)
    quick = {"max_epochs": 1, "random_state": 0}
    for kind, own, others in (("mlp", flat, images), ("cnn", images, flat)):
        lender = unskew.make("ntc", network=kind, **quick).fit(own, y)
        ranker = unskew.make(name, labeling=lender, network="mlp", **quick).fit(others, y)
        np.testing.assert_array_equal(ranker.labeling_prob(others), lender.labeling_prob(own))
        ranker.save(tmp_path / "model")
        loaded = unskew.load(tmp_path / "model")
        np.testing.assert_array_equal(loaded.labeling_prob(others), lender.labeling_prob(own))
        np.testing.assert_array_equal(loaded.decision_function(others), ranker.decision_function(others))


class StandardizedRows(nn.Module):
    """A linear score of what is left of a row without its mean and scale: of zeros nothing is."""

    def __init__(self, shape):
        super().__init__()
        self.linear = nn.Linear(shape[0], 1)
        self.register_buffer("mask", torch.full((shape[0],), -torch.inf))

    def forward(self, x):
        return self.linear((x - x.mean(1, keepdim=True)) / x.std(1, keepdim=True))


@pytest.mark.parametrize("name", ["conf-auc", "pg", "lbe"])
@pytest.mark.parametrize("crossfit", [0, 2])
def test_a_users_network_that_knows_no_score_of_zeros_comes_back(name, crossfit, toy_data, tmp_path):
    ranker = fitted(toy_data, name, network=StandardizedRows, crossfit=crossfit)
    ranker.save(tmp_path / "model")
    loaded = unskew.load(tmp_path / "model", network=StandardizedRows)
    np.testing.assert_array_equal(loaded.decision_function(toy_data.X), ranker.decision_function(toy_data.X))
    np.testing.assert_array_equal(loaded.labeling_prob(toy_data.X), ranker.labeling_prob(toy_data.X))
    model = modelfile.read_model_file(tmp_path / "model")
    for prefix in {array.split(".")[0] for array in model.arrays} - {"posterior"}:
        arrays = model.arrays | {f"{prefix}.linear.bias": np.array([np.nan], dtype=np.float32)}
        modelfile.write_model_file(tmp_path / "wrong", modelfile.ModelFile(model.header, arrays))
        with pytest.raises(ModelFileError, match="weights of its network must be finite, but some of 'linear.bias'"):
            unskew.load(tmp_path / "wrong", network=StandardizedRows)
    model.header["numbers"]["threshold_"] = None
    modelfile.write_model_file(tmp_path / "wrong", model)
    with pytest.raises(ModelFileError, match="threshold_ must be a finite number, but it is None"):
        unskew.load(tmp_path / "wrong", network=StandardizedRows)


def test_counters_of_a_network_come_back(toy_data, tmp_path):
    def network(shape):
        return nn.Sequential(nn.BatchNorm1d(shape[0]), nn.Linear(shape[0], 1))

    ranker = fitted(toy_data, network=network)
    ranker.save(tmp_path / "model")
    loaded = unskew.load(tmp_path / "model", network=network)
    np.testing.assert_array_equal(loaded.decision_function(toy_data.X), ranker.decision_function(toy_data.X))
    assert loaded.network_.state_dict()["0.num_batches_tracked"].shape == ()


def test_the_wrong_callable_is_told(toy_data, tmp_path):
    fitted(toy_data, network=lambda shape: nn.Linear(shape[0], 1)).save(tmp_path / "model")
    with pytest.raises(ModelFileError, match="the weights in the file must be those of the network"):
        unskew.load(tmp_path / "model", network=lambda shape: nn.Linear(7, 1))


def test_the_header_says_what_the_model_is(toy_data, tmp_path):
    fitted(toy_data).save(tmp_path / "model")
    header = modelfile.read_model_file(tmp_path / "model").header
    assert header["method"] == "conf-auc"
    assert header["library_version"] == __version__
    assert header["input_shape"] == [2]
    assert header["training"]["n_labeled"] + header["training"]["n_validation_labeled"] == toy_data.labeled.sum()
    assert len(header["history"]) == QUICK["max_epochs"]


def test_a_callable_that_hands_out_one_module_gives_the_score_network_its_own_copy(toy_data, tmp_path):
    module = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
    ranker = fitted(toy_data, network=lambda _shape: module)
    ranker.save(tmp_path / "model")
    state = torch.get_rng_state()
    loaded = unskew.load(tmp_path / "model", network=lambda _shape: module)
    assert torch.equal(torch.get_rng_state(), state)
    np.testing.assert_array_equal(loaded.decision_function(toy_data.X), ranker.decision_function(toy_data.X))
    np.testing.assert_array_equal(loaded.labeling_prob(toy_data.X), ranker.labeling_prob(toy_data.X))


@pytest.mark.parametrize(("network", "found"), [(nn.Linear(2, 1), "a module itself, a Linear"), (lambda _: 5, "is 5")])
def test_a_network_that_is_no_function_of_the_shape_is_told(network, found, toy_data, tmp_path):
    with pytest.raises(TypeError, match=f"takes the shape of one row and returns a torch module, but .*{found}"):
        fitted(toy_data, network=network)
    fitted(toy_data, network=lambda shape: nn.Linear(*shape, 1)).save(tmp_path / "model")
    with pytest.raises(TypeError, match=found):
        unskew.load(tmp_path / "model", network=network)


def test_a_model_of_a_device_that_is_not_here_is_loaded_to_the_processor(toy_data, tmp_path):
    ranker = fitted(toy_data)
    ranker.save(tmp_path / "model")
    model = modelfile.read_model_file(tmp_path / "model")
    model.header["parameters"]["device"] = "xla:7"
    modelfile.write_model_file(tmp_path / "model", model)
    with pytest.warns(UserWarning, match="fitted on the device 'xla:7', which torch does not have here") as told:
        loaded = unskew.load(tmp_path / "model")
    assert told[0].filename == __file__
    np.testing.assert_array_equal(loaded.decision_function(toy_data.X), ranker.decision_function(toy_data.X))


def entries(value, most, path=()):
    """Where each entry of a header is, whatever it is in; of a list, only that many."""
    items = value.items() if isinstance(value, dict) else enumerate(value[:most]) if isinstance(value, list) else ()
    for key, each in items:
        yield (*path, key)
        yield from entries(each, most, (*path, key))


@pytest.mark.parametrize(("name", "custom"), [("conf-auc", False), ("npu", False), ("pg", False), ("conf-auc", True)])
@pytest.mark.filterwarnings("ignore:the model was fitted on the device")
def test_a_header_with_other_entries_is_refused_or_read(name, custom, toy_data, tmp_path, monkeypatch):
    """No checksum helps against a file that was made wrong; no such file may end in an error about the library."""
    own = {"network": lambda shape: nn.Linear(*shape, 1)} if custom else {}
    fitted(toy_data, name, crossfit=2, **own).save(tmp_path / "model")
    model, told = modelfile.read_model_file(tmp_path / "model"), 0
    text = json.dumps(model.header)
    monkeypatch.setattr(os, "fsync", lambda _: None)  # these files need not outlive a failure of power
    for *above, key in list(entries(model.header, most=2 if name == "conf-auc" and not custom else 1)):
        for wrong in ("left out", None, -1, 10**12, 0.5, "word", [], {}, [10**9], True):
            header = json.loads(text)
            inside = header
            for step in above:
                inside = inside[step]
            inside[key] = wrong
            if wrong == "left out":
                del inside[key]
            (tmp_path / "other").unlink(missing_ok=True)  # quicker than to replace it
            modelfile.write_model_file(tmp_path / "other", modelfile.ModelFile(header, model.arrays))
            try:
                loaded = unskew.load(tmp_path / "other", **own)
            except ModelFileError:
                told += 1
            except ValueError as error:  # its header says that the network is none of the user's
                if "names its own network" not in str(error):
                    raise
            else:
                loaded.predict(toy_data.X[:3])
                assert not hasattr(loaded, "labeling_") or np.isfinite(loaded.labeling_prob(toy_data.X[:3])).all()
    assert told > 100


def header_with(path, value):
    """A change of the header at a path such as "labeling.0.alpha"; a value that is `...` takes the entry away."""

    def change(model):
        *above, key = (int(each) if each.isdigit() else each for each in path.split("."))
        inside = model.header
        for step in above:
            inside = inside[step]
        if value is ...:
            del inside[key]
        else:
            inside[key] = value

    return change


def arrays_with(**named):
    def change(model):
        for name, array in named.items():
            model.arrays[name.replace("__", ".")] = array

    return change


DISAGREEING = {
    "no method": (header_with("method", ["conf-auc"]), r"holds a model of the method \['conf-auc'\]"),
    "no versions": (header_with("written_with", ...), "the header must hold written_with, but it does not"),
    "version of another type": (header_with("library_version", 1), "library_version must be a text, but it is 1"),
    "unknown parameter": (header_with("parameters.depth", 3), "unexpected keyword argument 'depth'"),
    "parameter of another type": (header_with("parameters.clip", "high"), "clip of ConfidenceAUC must be"),
    "parameter out of range": (header_with("parameters.batch_size", -1), "batch_size of ConfidenceAUC must be"),
    "device of another type": (header_with("parameters.device", 0), "device of ConfidenceAUC must be"),
    "another network": (header_with("parameters.network", "mlp"), "the weights in the file must be those of the"),
    "another network of the labeling": (header_with("labeling.0.network", "kernel"), "must be those of the network"),
    "unknown network of the labeling": (header_with("labeling.0.network", "deep"), "its network must be linear or"),
    "rows of any size": (header_with("input_shape", [10**9]), "n_features_in must be that of rows of shape"),
    "rows of no size": (header_with("input_shape", []), "input_shape must be one size above 0 or more, but it is"),
    "another number of features": (header_with("n_features_in", 3), r"rows of shape \(2,\), but it is 3"),
    "and again": (header_with("numbers.n_features_in_", 3), r"rows of shape \(2,\), but it is 3"),
    "too many names": (header_with("feature_names", ["a", "b", "c"]), "feature_names must be 2 names"),
    "a history of texts": (header_with("history", [["0", 1.0, 1.0]]), r"history\[0\].epoch must be a whole number"),
    "a history of infinity": (header_with("history.0", [0, None, 1.0]), r"history\[0\].train_risk must be a finite"),
    "an epoch beyond": (header_with("numbers.best_epoch_", 9), "best_epoch must be one of the 5 epochs, but it is 9"),
    "an epoch of the labeling": (header_with("labeling.0.best_epoch", -1), "must be one of the 5 epochs, but it is -1"),
    "no threshold": (header_with("numbers.threshold_", None), "threshold_ must be a finite number, but it is None"),
    "threshold left out": (header_with("numbers.threshold_", ...), "threshold_ must be a finite number, but it is"),
    "threshold of another type": (header_with("numbers.threshold_", True), "threshold_ must be a finite number, but"),
    "prior above 1": (header_with("numbers.prior_", 1.5), "prior_ must be between 0 and 1, but it is 1.5"),
    "negative frequency": (header_with("numbers.label_freq_", -0.5), "label_freq_ must be between 0 and 1, but it is"),
    "a number for a network": (header_with("numbers.network_", 1.0), "some are called 'network'"),
    "a number for a labeling model": (header_with("numbers.labeling_", 1.0), "numbers of a fitted model"),
    "a number that is no name": (header_with("numbers.a b_", 1.0), "numbers of a fitted model, ending with _, but"),
    "negative count": (header_with("training.n_labeled", -1), "training.n_labeled must be a count or a share"),
    "no share": (header_with("training.alpha", 1.0), "training.alpha must be a count or a share, but it is 1.0"),
    "no labeling model": (header_with("labeling", []), "labeling must be one network or more"),
    "labeling left out": (header_with("labeling", None), "networks of the labeling model must be"),
    "labeling of other rows": (header_with("labeling.0.input_shape", [3]), r"of the size of its ranker's, \(2,\)"),
    "labeling of negative rows": (header_with("labeling.0.input_shape", [-1, -2]), "of the size of its ranker's"),
    "weights that are not finite": (
        arrays_with(network__1__bias=np.array([np.inf], dtype=np.float32)),
        "weights of its network must be finite, but some of '1.bias' are not",
    ),
    "weights of another type": (arrays_with(network__1__bias=np.zeros(1)), "torch.float64"),
    "weights of another shape": (arrays_with(network__1__bias=np.zeros((1, 1), dtype=np.float32)), "must be those"),
    "weights of no network": (arrays_with(threshold__bias=np.zeros(1, dtype=np.float32)), "called 'threshold'"),
    "weights of no fold": (arrays_with(labeling7__bias=np.zeros(1, dtype=np.float32)), "but it is .*'labeling7'"),
}


@pytest.mark.parametrize("name", DISAGREEING)
def test_parts_that_do_not_agree_are_refused(name, whole_file, tmp_path):
    """Each file was made wrong under a right checksum; the message names it and says what to do."""
    (tmp_path / "model").write_bytes(whole_file)
    model = modelfile.read_model_file(tmp_path / "model")
    change, told = DISAGREEING[name]
    change(model)
    modelfile.write_model_file(tmp_path / "crafted", model)
    with pytest.raises(ModelFileError, match=rf"crafted .*{told}.*(Save the model again|import its module first)"):
        unskew.load(tmp_path / "crafted")


def test_a_callable_builds_nothing_larger_than_the_file(toy_data, tmp_path):
    built = []

    def network(shape):
        built.append(shape)
        return nn.Sequential(nn.Flatten(), nn.Linear(int(np.prod(shape)), 1))

    fitted(toy_data, network=network).save(tmp_path / "model")
    model = modelfile.read_model_file(tmp_path / "model")
    model.header["input_shape"] = [10**6, 10**6, 10**3]
    model.header["n_features_in"] = None
    del model.header["numbers"]["n_features_in_"]
    modelfile.write_model_file(tmp_path / "crafted", model)
    built.clear()
    with pytest.raises(ModelFileError, match="must be those of the network .* for rows of shape .*crafted"):
        unskew.load(tmp_path / "crafted", network=network)
    assert len(built) == 1


@pytest.mark.parametrize("header", [None, [], "conf-auc"])
def test_a_header_that_is_no_object_is_told(header, tmp_path):
    modelfile.write_model_file(tmp_path / "model", modelfile.ModelFile(header, {}))
    with pytest.raises(ModelFileError, match="the header must be an object, but it is"):
        unskew.load(tmp_path / "model")


@pytest.fixture(scope="module")
def whole_file(tmp_path_factory):
    from unskew.datasets import toy

    path = tmp_path_factory.mktemp("model") / "model.unskew"
    fitted(toy.draw(100, random_state=0)).save(path)
    return path.read_bytes()


def damages(content, rng):
    """200 damaged copies: flipped bits, changed bytes, truncations, tails, swaps; the first and last bytes too."""
    size = len(content)
    places = [0, 7, 8, 39, 40, 43, 44, 51, 52, size - 1, *rng.randint(0, size, 90)]
    for place in places:
        changed = bytearray(content)
        changed[place] ^= 1 << rng.randint(8)
        yield bytes(changed)
    for length in [0, 1, 7, 8, 39, 40, 51, 52, size - 1, *rng.randint(1, size, 51)]:
        yield content[:length]
    for _ in range(20):
        yield content + rng.bytes(rng.randint(1, 50))
    for _ in range(20):
        start, length = rng.randint(0, size - 60), rng.randint(1, 50)
        yield (
            content[:start] + bytes(length) + content[start + length :]
            if any(content[start : start + length])
            else (content[:start] + b"\1" * length + content[start + length :])
        )


def test_200_damaged_files_are_each_refused(whole_file, tmp_path):
    path = tmp_path / "damaged.unskew"
    count = 0
    for damaged in damages(whole_file, np.random.RandomState(0)):
        path.write_bytes(damaged)
        with pytest.raises(ModelFileError, match=r"damaged\.unskew is (damaged|not an unskew model file)"):
            unskew.load(path)
        count += 1
    assert count == 200
    path.write_bytes(whole_file)
    unskew.load(path)


def test_another_format_and_another_method_are_told(whole_file, tmp_path, monkeypatch):
    path = tmp_path / "model.unskew"
    monkeypatch.setattr(modelfile, "FORMAT_VERSION", 2)
    modelfile.write_model_file(path, modelfile.ModelFile({}, {}))
    monkeypatch.undo()
    with pytest.raises(ModelFileError, match="has model file format 2, but this version of unskew reads format 1"):
        unskew.load(path)
    header = {"method": "of-tomorrow", "library_version": "9.9"}
    modelfile.write_model_file(path, modelfile.ModelFile(header, {}))
    with pytest.raises(ModelFileError, match=r"method 'of-tomorrow', written by unskew 9\.9, which this version"):
        unskew.load(path)


def write_file(path, header=b"{}", arrays=None, version=1, header_length=None):
    """A file with a right checksum, whatever is in it; arrays default to none."""
    arrays = described({}) if arrays is None else arrays
    length = len(header) if header_length is None else header_length
    body = struct.pack("<IQ", version, length) + header + arrays
    path.write_bytes(modelfile.SIGNATURE + hashlib.sha256(body).digest() + body)


def described(entries, content=b"", length=None):
    """Arrays in the layout of safetensors, described as given."""
    text = entries if isinstance(entries, bytes) else json.dumps(entries).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + content


def entry(shape=(2,), offsets=(0, 8), dtype="F32"):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


EIGHT = b"12345678"
WRONG_ARRAYS = {
    "no arrays": (b"no arrays", "its JSON must end within the file"),
    "nothing": (b"", "its JSON must end within the file"),
    "a description without end": (described({}, length=2**60), "its JSON must end within the file"),
    "bfloat16": (torch_arrays({"a": torch.ones(2, dtype=torch.bfloat16)}), "its type is BF16"),
    "float8": (torch_arrays({"a": torch.ones(2, dtype=torch.float8_e4m3fn)}), "its type is F8_E4M3"),
    "beyond the end": (described({"a": entry([200], (0, 800))}, EIGHT), "must end where the file does"),
    "shape of another size": (described({"a": entry([3])}, EIGHT), "have the size of its shape"),
    "negative sizes": (described({"a": entry([-1, -2])}, EIGHT), "have the size of its shape"),
    "too large for any machine": (described({"a": entry([2**62, 2**62])}, EIGHT), "have the size of its shape"),
    "nothing, of any size": (described({"a": entry([0, 2**62, 2**62], (0, 0))}), "array is too big"),
    "twice the same bytes": (described({"a": entry(), "b": entry()}, EIGHT), "array b must lie behind"),
    "bytes of no array": (described({"a": entry([1], (0, 4))}, EIGHT), "must end where the file does"),
    "a size that is no number": (described({"a": entry(["2"])}, EIGHT), r"a.shape\[0\] must be a whole number"),
    "no offsets": (described({"a": {"dtype": "F32", "shape": [2]}}, EIGHT), "arrays.a must hold data_offsets"),
}


@pytest.mark.parametrize("name", WRONG_ARRAYS)
def test_wrong_arrays_under_a_right_checksum_are_refused(name, tmp_path):
    arrays, told = WRONG_ARRAYS[name]
    write_file(tmp_path / "model", arrays=arrays)
    with pytest.raises(ModelFileError, match=rf"model must hold .* is right: .*{told}.*\. Save the model again"):
        modelfile.read_model_file(tmp_path / "model")


WRONG_JSON = {
    "not a number": (b'{"a": NaN}', "must be finite, but one is NaN"),
    "infinity": (b'{"a": [-Infinity]}', "must be finite, but one is -Infinity"),
    "too large a number": (b'{"a": 1e999}', "must be finite, but one is 1e999"),
    "a long number": (b'{"a": ' + b"9" * 5000 + b"}", "must fit into 64 bits, but one is 99999999999999999999"),
    "a repeated key": (b'{"a": 1, "b": 2, "a": 3}', "must hold each key once, but it holds 'a' twice"),
    "deep nesting": (b"[" * 100_000 + b"]" * 100_000, "must not be nested deeper than Python can read"),
    "no text": (b"\xff\xfe", "can't decode byte 0xff"),
    "no JSON": (b"{", "Expecting property name"),
}


@pytest.mark.parametrize("name", WRONG_JSON)
def test_json_that_is_not_strict_is_refused(name, tmp_path):
    header, told = WRONG_JSON[name]
    write_file(tmp_path / "model", header)
    with pytest.raises(ModelFileError, match=rf"model must hold a JSON header .*{told}.*\. Save the model again"):
        modelfile.read_model_file(tmp_path / "model")


def test_a_header_beyond_the_limit_is_neither_read_nor_written(tmp_path, monkeypatch):
    monkeypatch.setattr(modelfile, "LARGEST_HEADER", 10)
    write_file(tmp_path / "model", b'{"a": "long enough"}')
    with pytest.raises(ModelFileError, match="take at most 10 bytes"):
        modelfile.read_model_file(tmp_path / "model")
    with pytest.raises(ValueError, match="must take at most 10 bytes, but this one takes 20"):
        modelfile.write_model_file(tmp_path / "other", modelfile.ModelFile({"a": "long enough"}, {}))
    write_file(tmp_path / "model", header_length=2**63)
    with pytest.raises(ModelFileError, match="its JSON must end within the file"):
        modelfile.read_model_file(tmp_path / "model")


def test_arrays_of_all_types_come_back(tmp_path):
    kinds = "?", "u1", "i1", "<u2", "<i2", "<f2", "<u4", "<i4", "<f4", "<u8", "<i8", "<f8"
    arrays = {kind: np.array([[1, 0, 1]]).astype(kind) for kind in kinds}
    arrays |= {"number": np.float32(2.5)[()], "none": np.zeros((0, 3), dtype=np.float32)}
    arrays = {name: np.asarray(array) for name, array in arrays.items()}
    modelfile.write_model_file(tmp_path / "model", modelfile.ModelFile({}, arrays))
    found = modelfile.read_model_file(tmp_path / "model").arrays
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
        assert (found[name].dtype, found[name].shape) == (array.dtype, array.shape)
        assert found[name].ctypes.data % modelfile.ALIGNMENT == 0
        assert found[name].flags.writeable


def test_what_is_no_regular_file_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(ModelFileError, match=f"{path} must be a regular file, but it is a device or a pipe"):
            unskew.load(path)
    with pytest.raises(IsADirectoryError):
        unskew.load(tmp_path)


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the peak of memory is read from /proc")
def test_loading_takes_hardly_more_memory_than_the_file_has_bytes(tmp_path):
    """It was four times as much."""
    rows, y = np.random.RandomState(0).normal(size=(8, 30_000)).astype(np.float32), np.repeat([1, 0], 4)
    unskew.make("no-conf", max_epochs=1, batch_size=8, random_state=0).fit(rows, y).save(tmp_path / "large")
    unskew.make("no-conf", max_epochs=1, batch_size=8, random_state=0).fit(rows[:, :5], y).save(tmp_path / "small")
    script = (
        "import re, sys, unskew\n"
        "from pathlib import Path\n"
        "def memory(which):\n"
        "    return 1024 * int(re.search(which + r':\\s+(\\d+)', Path('/proc/self/status').read_text())[1])\n"
        "unskew.load(sys.argv[1])\n"
        "before = memory('VmRSS')\n"
        "Path('/proc/self/clear_refs').write_text('5')\n"
        "model = unskew.load(sys.argv[2])\n"
        "print((memory('VmHWM') - before) / Path(sys.argv[2]).stat().st_size)\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "small"), str(tmp_path / "large")]
    ratio = float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert 0.9 < ratio < 1.6


def test_the_fixed_entries_of_a_loaded_perceptron_stay_fixed(toy_data, tmp_path):
    fitted(toy_data, network="mlp").save(tmp_path / "model")
    network = unskew.load(tmp_path / "model").network_
    network(torch.ones(3, 2)).sum().backward()
    assert not network.weights.grad[:-1, network.hidden].any()
    assert network.weights.grad.any()


def test_a_failed_write_leaves_the_old_file_and_no_other(toy_data, tmp_path, monkeypatch):
    path = tmp_path / "model.unskew"
    ranker = fitted(toy_data)
    ranker.save(path)
    before = path.read_bytes()
    monkeypatch.setattr("os.replace", _no_space)
    with pytest.raises(OSError, match="No space"):
        ranker.save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def _no_space(*_):
    raise OSError("No space left on device")


def test_loading_runs_no_pickle(toy_data, tmp_path, monkeypatch):
    fitted(toy_data).save(tmp_path / "model")

    def refuse(*_, **__):
        raise SystemExit("code from the file would run")

    for module, name in ((pickle, "loads"), (pickle, "load"), (pickle, "Unpickler"), (torch, "load")):
        monkeypatch.setattr(module, name, refuse)
    unskew.load(tmp_path / "model")


def test_the_file_is_the_same_for_the_same_model(toy_data, tmp_path):
    ranker = fitted(toy_data)
    ranker.save(tmp_path / "a")
    ranker.save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert json.dumps(modelfile.read_model_file(tmp_path / "a").header)
    assert torch.is_tensor(next(iter(unskew.load(tmp_path / "a").network_.parameters())))
