"""A model comes back from its file as it was; anything else is refused, and by name."""

import io
import json
import pickle
import struct
import zipfile
from hashlib import sha256

import numpy as np
import pytest

from toprank.app.fitting import fit_model
from toprank.app.model_file import check_types, load_model, save_model
from toprank.selection.candidates import RANKERS, make_ranker

FEW_ROUNDS = {"rankboost", "smooth-margin", "adaboost", "soft-rankboost"}


def sealed(schema, archive):
    """A file with a right SHA-256 around any content, as somebody hostile would make it."""
    payload = struct.pack("<Q", len(schema)) + schema + archive
    return b"toprank model 1\n" + sha256(payload).hexdigest().encode() + b"\n" + payload


def opened(path):
    content = path.read_bytes().split(b"\n", 2)[2]
    (length,) = struct.unpack_from("<Q", content)
    return content[8 : 8 + length], content[8 + length :]


@pytest.mark.parametrize("name", RANKERS)
def test_every_ranker_comes_back_as_it_was(name, data, tmp_path):
    settings = {"max_iter": 20} if name in FEW_ROUNDS else {}
    settings |= {"nu": 0.9} if name == "rank-svm" else {}
    model = fit_model(data, make_ranker(name, settings), budget=10, name=name)
    again = load_model(save_model(tmp_path / "m.toprank", model))
    features = data.in_memory().features
    assert np.array_equal(again.scores(features), model.scores(features))
    direct = again.ranker.decision_function(again.encoder.transform(features))
    assert np.allclose(again.scores(features), direct)
    assert again.facts == model.facts
    assert again.roles == model.roles
    assert again.drivers()[0].column in ("a", "job")
    assert (
        again.facts["certificate"].startswith(("Training list", "The model", "At least", "The "))
        or "mini-batches" in again.facts["certificate"]
    )


def test_every_flipped_byte_is_refused(model, tmp_path):
    path = save_model(tmp_path / "m.toprank", model)
    content = path.read_bytes()
    for place in range(0, len(content), 211):
        damaged = bytearray(content)
        damaged[place] ^= 1
        path.write_bytes(bytes(damaged))
        with pytest.raises(ValueError, match=r"damaged|not a toprank model|layout"):
            load_model(path)
    for length in (0, 10, 40, 100, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(ValueError, match=r"damaged|not a toprank model|layout"):
            load_model(path)


def test_a_pickle_is_never_opened(tmp_path):
    class Trap:
        def __reduce__(self):
            return (open, (str(tmp_path / "sprung"), "w"))

    for content in (pickle.dumps(Trap()), sealed(b"{}", pickle.dumps(Trap()))):
        path = tmp_path / "m.toprank"
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"not a toprank model|no model of ours"):
            load_model(path)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize(
    ("node", "named"),
    [
        ({"__class__": "system", "__module__": "os", "__loader__": "FunctionNode"}, "os.system"),
        ({"__class__": "Popen", "__module__": "subprocess", "__loader__": "ObjectNode"}, "Popen"),
        (
            {
                "__class__": "LogisticRegression",
                "__module__": "sklearn.linear_model",
                "__loader__": "ObjectNode",
            },
            "sklearn.linear_model.LogisticRegression",
        ),
        (
            {
                "__class__": "methodcaller",
                "__module__": "operator",
                "__loader__": "OperatorFuncNode",
            },
            "operator.methodcaller",
        ),
        ({"__class__": "str", "__module__": "builtins", "__loader__": "MethodNode"}, "MethodNode"),
    ],
)
def test_types_that_are_not_on_the_list_are_refused_by_name(node, named, model, tmp_path):
    schema, archive = opened(save_model(tmp_path / "m.toprank", model))
    source = zipfile.ZipFile(io.BytesIO(archive))
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as made:
        for info in source.infolist():
            content = source.read(info)
            if info.filename == "schema.json":
                description = json.loads(content)
                description["content"]["content"] = [node]
                content = json.dumps(description)
            made.writestr(info.filename, content)
    path = tmp_path / "hostile.toprank"
    path.write_bytes(sealed(schema, target.getvalue()))
    with pytest.raises(ValueError, match=named):
        load_model(path)


def test_made_up_archives_are_refused_in_one_sentence(model, tmp_path):
    schema, archive = opened(save_model(tmp_path / "m.toprank", model))
    deep = "[" * 5000 + "]" * 5000
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("schema.json", "{}")
        made.writestr("zeros", b"\0" * (80 << 20))
    hollow = io.BytesIO()
    with zipfile.ZipFile(hollow, "w") as made:
        made.writestr("schema.json", deep)
    for content in (
        sealed(b"{}", archive),
        sealed(b"nonsense", archive),
        sealed(schema, b""),
        sealed(schema, hollow.getvalue()),
        sealed(schema, bomb.getvalue()),
        sealed(b"\xff" * 10, b""),
        b"toprank model 1\n" + sha256(b"").hexdigest().encode() + b"\n",
    ):
        path = tmp_path / "hostile.toprank"
        path.write_bytes(content)
        with pytest.raises(ValueError, match="no model of ours"):
            load_model(path)


def test_another_layout_is_told(model, tmp_path):
    path = save_model(tmp_path / "m.toprank", model)
    path.write_bytes(path.read_bytes().replace(b"toprank model 1", b"toprank model 9", 1))
    with pytest.raises(ValueError, match="layout '9'"):
        load_model(path)


def test_a_model_that_could_not_be_read_is_not_written(model, tmp_path):
    class Foreign:
        coef_ = np.zeros((1, 5))
        intercept_ = np.zeros(1)

    from dataclasses import replace

    with pytest.raises(ValueError, match="Foreign"):
        save_model(tmp_path / "m.toprank", replace(model, ranker=Foreign()))
    assert list(tmp_path.iterdir()) == []


def test_the_archive_holds_no_pickle(model, tmp_path):
    _, archive = opened(save_model(tmp_path / "m.toprank", model))
    assert all("." in name for name in check_types(archive))
    names = zipfile.ZipFile(io.BytesIO(archive)).namelist()
    assert {name.rsplit(".", 1)[-1] for name in names} <= {"json", "npy"}
