"""A model comes back from its file as it was; anything else is refused, and by name."""

import json
import pickle
import struct
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from toprank import TreeRanker
from toprank.app.fitting import fit_model
from toprank.models import formula_of
from toprank.models.file import _Reader, load, save
from toprank.selection.candidates import RANKERS, make_ranker
from toprank.selection.engines import ENGINES, installed_engines
from toprank.shortlists import Calibration
from toprank.tables import TableEncoder

BOOSTED = ("rankboost", "smooth-margin", "adaboost", "soft-rankboost")
ABSENT = set(ENGINES) - set(installed_engines())
SETTINGS = {
    "rank-svm": {"nu": 0.9},
    "trees": {"n_trees": 5, "depth": 2},
    "random-forest": {"n_trees": 5},
    "extra-trees": {"n_trees": 5},
    **{name: {"max_iter": 20} for name in BOOSTED},
}


def sealed(description, arrays=b""):
    """A file with a right SHA-256 around any content, as somebody hostile would make it."""
    if not isinstance(description, bytes):
        description = json.dumps(description).encode()
    payload = struct.pack("<Q", len(description)) + description + arrays
    return b"toprank model 4\n" + sha256(payload).hexdigest().encode() + b"\n" + payload


def opened(path):
    content = path.read_bytes().split(b"\n", 2)[2]
    (length,) = struct.unpack_from("<Q", content)
    return json.loads(content[8 : 8 + length]), content[8 + length :]


@pytest.fixture
def refused(tmp_path):
    """Whether a file is refused in one sentence that has these words."""

    def check(content, words="not a valid toprank model"):
        path = tmp_path / "hostile.toprank"
        path.write_bytes(content)
        with pytest.raises(ValueError, match=words) as caught:
            load(path)
        assert "\n" not in str(caught.value)

    return check


@pytest.mark.parametrize(
    ("name", "settings"),
    [(name, SETTINGS.get(name, {})) for name in RANKERS if name not in ABSENT],
)
def test_every_ranker_comes_back_as_it_was(name, settings, data, tmp_path):
    ranker = make_ranker(name, settings)
    model = fit_model(data, ranker, budget=10, name=name)
    path = save(model, tmp_path / "m.toprank")
    again = load(path)
    features = data.in_memory().features
    assert np.array_equal(again.scores(features), model.scores(features))
    encoded = again.formula.encoding.transform(features)
    assert np.array_equal(again.scores(features), ranker.decision_function(encoded))
    assert again.facts == model.facts
    assert again.roles == model.roles
    assert again.drivers() == model.drivers()
    assert (
        again.facts["certificate"].startswith(("Training list", "The model", "At least", "The "))
        or "mini-batches" in again.facts["certificate"]
    )
    assert save(again, tmp_path / "again.toprank").read_bytes() == path.read_bytes()


def test_the_same_fit_gives_the_same_bytes(data, tmp_path):
    def written(name):
        ranker = make_ranker("precision-at-k", seed=3)
        model = fit_model(data, ranker, budget=10, name="precision-at-k")
        return save(model, tmp_path / name).read_bytes()

    assert written("one.toprank") == written("two.toprank")


def test_every_flipped_byte_is_refused(model, tmp_path, refused):
    content = save(model, tmp_path / "m.toprank").read_bytes()
    words = r"damaged|not a toprank model|layout"
    for place in range(0, len(content), 53):
        damaged = bytearray(content)
        damaged[place] ^= 1
        refused(bytes(damaged), words)
    for length in (0, 10, 40, 100, len(content) - 1):
        refused(content[:length], words)


def test_a_pickle_is_never_opened(tmp_path, refused):
    class Trap:
        def __reduce__(self):
            return (open, (str(tmp_path / "sprung"), "w"))

    refused(pickle.dumps(Trap()), "not a toprank model")
    refused(sealed({}, pickle.dumps(Trap())))
    assert not (tmp_path / "sprung").exists()


def changed(description, path, value):
    """A copy with another value at a path of keys; ``...`` removes the entry."""
    copy = json.loads(json.dumps(description))
    *way, last = path
    inside = copy
    for key in way:
        inside = inside[key]
    if value is ...:
        del inside[last]
    else:
        inside[last] = value
    return copy


def test_terms_and_cells_that_are_not_known_are_refused_by_name(model, tmp_path, refused):
    description, arrays = opened(save(model, tmp_path / "m.toprank"))
    for name in ("system", "builtins.eval", "Weights", "", None):
        refused(sealed(changed(description, ["summands", 0, 2], name), arrays), "not known")
        refused(sealed(changed(description, ["cells", 0, 0], name), arrays), "cell of the column")


def test_every_inconsistent_entry_is_refused_in_one_sentence(model, tmp_path, refused):
    description, arrays = opened(save(model, tmp_path / "m.toprank"))
    weights = ("summands", 0, 3)
    for path, values in {
        ("budget",): (float("nan"), -1, 0, 1.5, float("inf"), "10", True, None),
        ("cut",): (float("nan"), float("inf"), "0", []),
        ("slope",): (float("nan"), "2", True),
        ("classes",): ([1], [1, 1], [1, "a"], "ab", [1, 2, 3], [None, 1]),
        ("cells",): ([], 5, [["a"]], {"$array": ["<f8", 5]}),
        ("cells", 0): ([], ["number"], ["number", "a", "", 0.0, 1.0]),
        ("cells", 0, 1): ("job", "none", 5),
        ("cells", 0, 2): ("month", "days", 5),
        ("cells", 0, 3): ([], float("nan"), "x", 5),
        ("cells", 3, 2): ([], ["smith", "smith"], [1], "smith", None),
        ("cells", 3, 3): ([], ["1"], [1.0, 2.0], [float("inf")]),
        ("cells", 3, 4): (None, 1, float("nan"), "0"),
        ("cells", 3, 5): (1, float("nan"), "0"),
        ("schema",): (..., [], {}, [5], [{"name": "a"}]),
        ("schema", 0, "name"): ("b", 5, None),
        ("schema", 0, "kind"): ("category", "text", None, ["number"]),
        ("schema", 0, "decimal"): (";", 5, [","]),
        ("schema", 0, "codes"): (-999, ["-999"], [float("nan")], [True]),
        ("schema", 0, "units"): ("EUR", [5]),
        ("schema", 0, "form"): ("%d",),
        ("roles", 0): (None, 5),
        ("roles", 5): (None, "x", [5]),
        ("roles", 1): (["yes", 5], "yes"),
        ("facts", "n_rows"): (..., "many", 1e30, 1 << 63),
        ("facts", "class"): (..., None, 5),
        ("facts", "parameters"): (..., [], None),
        ("facts",): (..., [], None),
        ("promise",): (..., 5, [], {"at": [0.1]}),
        ("intercept",): (..., None, "0", float("inf")),
        ("summands",): (..., [], 5, [[]]),
        ("summands", 0, 0): (None, "1", float("nan"), 1),
        ("summands", 0, 1): (None, "1", float("inf")),
        weights: ([], 5, {}, {"$array": ["<f8", 0]}),
        (*weights, "weights"): ([0.0] * 5, 5),
        (*weights, "more"): ([0.0] * 5, 5),
        (*weights, "weights", "$array"): (["<f8", 4], ["<f8"], ["<f8", 5, 1], ["<f8", 6], ["O", 5]),
        (*weights, "weights", "$array", 1): (-5, 5.0, 1 << 62, "5", None, [5]),
        ("baseline", "$array"): (["<f8"], ["<f4", 10], ["<i8", 5], []),
        ("spread",): (..., {"$array": ["<f8", 0]}),
    }.items():
        for value in values:
            refused(sealed(changed(description, path, value), arrays))
    refused(sealed(description, arrays[:-8]))
    refused(sealed(description, arrays + b"\0"))
    not_finite = np.frombuffer(arrays).copy()
    not_finite[:] = np.nan
    refused(sealed(description, not_finite.tobytes()))


def arrays_in(description, arrays):
    """All arrays with their paths in the description."""
    reader, found = _Reader(memoryview(arrays)), []

    def look(value, path):
        if isinstance(value, dict) and "$array" in value:
            found.append((path, reader.value(value)))
        elif isinstance(value, (dict, list)):
            keys = value if isinstance(value, dict) else range(len(value))
            for key in keys:
                look(value[key], (*path, key))

    look(description, ())
    return found


def forest_model(data):
    """A model that holds the trees of a forest."""
    rows = data.in_memory()
    encoder = TableEncoder().fit(rows.features)
    forest = RandomForestClassifier(3, max_leaf_nodes=4, random_state=0)
    forest.fit(encoder.transform(rows.features), rows.positives.astype(int))
    model = fit_model(data, make_ranker("trees", {"n_trees": 1}), budget=10, name="trees")
    trees = formula_of(TreeRanker.from_model(forest)).of_cells(model.formula.encoding)
    return replace(model, formula=trees)


def test_trees_of_a_forest_come_back_as_they_were(data, tmp_path):
    model = forest_model(data)
    again = load(save(model, tmp_path / "m.toprank"))
    features = data.in_memory().features
    assert np.array_equal(again.scores(features), model.scores(features))


@pytest.mark.parametrize("name", ["pnorm-push", "rankboost", "trees", "forest"])
def test_every_short_missing_or_single_array_is_refused(name, data, tmp_path, refused):
    settings = SETTINGS | {"rankboost": {"max_iter": 5}}
    if name == "forest":
        model = forest_model(data)
    else:
        model = fit_model(data, make_ranker(name, settings.get(name)), budget=10, name=name)
    description, content = opened(save(model, tmp_path / "m.toprank"))
    found = arrays_in(description, content)
    for number, (path, array) in enumerate(found):
        other_type = "<i8" if array.dtype.kind == "b" else "|b1"
        wrong = [array[..., :-1], array.ravel()[0], array[None], array.astype(other_type), ...]
        if array.dtype.kind == "f":
            wrong.append(array * np.nan)
        for other in wrong:
            arrays = [each for _, each in found]
            entry = other
            if other is not ...:
                arrays[number] = np.asarray(other)
                entry = {"$array": [arrays[number].dtype.str, *arrays[number].shape]}
            else:
                del arrays[number]
            hostile = changed(description, path, entry)
            refused(sealed(hostile, b"".join(each.tobytes() for each in arrays)))


def test_trees_that_would_read_beyond_a_table_or_never_end_are_refused(data, tmp_path, refused):
    oblivious = fit_model(data, make_ranker("trees", SETTINGS["trees"]), budget=10, name="trees")
    for model, name, value in (
        (oblivious, "columns", 99),
        (oblivious, "columns", -1),
        (oblivious, "cover", -1.0),
        (forest_model(data), "columns", 99),
        (forest_model(data), "children", 0),
        (forest_model(data), "roots", 1),
    ):
        description, content = opened(save(model, tmp_path / "m.toprank"))
        arrays = []
        for path, array in arrays_in(description, content):
            if path[-1] == name:
                array.flat[0] = value
            arrays.append(array.tobytes())
        refused(sealed(description, b"".join(arrays)))


def test_small_files_that_would_fill_the_memory_are_refused(model, tmp_path, refused):
    description, arrays = opened(save(model, tmp_path / "m.toprank"))
    refused(sealed(b"[" * 5000 + b"]" * 5000))
    refused(sealed(b"[" + b"[]," * (1 << 22) + b"[]]"))
    deep = 5
    for _ in range(40):
        deep = [deep]
    refused(sealed(changed(description, ["facts", "deep"], deep), arrays))
    huge = {"$array": ["<f8", 1 << 40, 1 << 20]}
    refused(sealed(changed(description, ["summands", 0, 3, "weights"], huge), arrays))
    for content in (b"nonsense", b"\xff" * 10, b"", b"{}", b"[]", b"5", b"1" * 5000):
        refused(sealed(content))
    refused(b"toprank model 4\n" + sha256(b"").hexdigest().encode() + b"\n")


def test_another_layout_is_told(model, tmp_path, refused):
    content = save(model, tmp_path / "m.toprank").read_bytes()
    refused(content.replace(b"toprank model 4", b"toprank model 3", 1), "layout '3'")


def test_a_model_that_could_not_be_read_is_not_written(model, tmp_path):
    for change, words in (
        ({"budget": float("nan")}, "budget"),
        ({"baseline": np.full(5, np.nan)}, "baseline"),
        ({"facts": model.facts | {"when": np.datetime64("2020-01-01")}}, "date"),
    ):
        with pytest.raises(ValueError, match=words):
            save(replace(model, **change), tmp_path / "m.toprank")
    assert list(tmp_path.iterdir()) == []


def test_trees_that_encode_categories_come_back(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    X[:, 0], X[:, 1] = rng.integers(3, size=60), rng.integers(9, size=60)
    X[::7, 1] = np.nan
    trees = TreeRanker(n_trees=5, depth=3, categories=[0, 1], random_state=0)
    trees.fit(X, X[:, 0] == 1)
    again = load(save(trees, tmp_path / "m.toprank"))
    new = np.vstack([X, np.full((2, 5), 77.0)])
    assert (again.decision_function(new) == trees.decision_function(new)).all()
    _, parts = again.row_drivers(again._as_table(new))
    np.testing.assert_allclose(parts, trees.explain(new), atol=1e-12)
    assert (again.predict(X) == trees.predict(X)).all()


def test_categories_that_differ_only_in_blanks_are_not_stored(tmp_path):
    X = np.array([["a"], ["a "], ["b"], ["a"]] * 5, dtype=object)
    trees = TreeRanker(n_trees=2, depth=1, categories=[0]).fit(X, [0, 1, 0, 1] * 5)
    with pytest.raises(TypeError, match="differ only in blanks"):
        save(trees, tmp_path / "m.toprank")


def test_calibration_rows_come_back_and_wrong_ones_are_refused(model, tmp_path, refused):
    calibration = Calibration.of([3.0, 2.0, 1.0], [1, 0, 0], sample_weight=[1, 2, 3])
    path = save(replace(model, calibration=calibration), tmp_path / "m.toprank")
    again = load(path).calibration
    assert vars(again).keys() == vars(calibration).keys()
    assert all(np.array_equal(vars(again)[k], vars(calibration)[k]) for k in vars(again))
    description, arrays = opened(path)
    refused(sealed(changed(description, ["calibration"], None), arrays), "bytes follow")
    for way, value in [
        (["scores"], {"$array": ["<f8", 2]}),
        (["is_exact"], 1),
        (["positives"], {"$array": ["|u1", 3]}),
        (["weights"], ...),
    ]:
        refused(sealed(changed(description, ["calibration", *way], value), arrays))
