"""Parquet files in blocks: their columns in order, in the memory of a few batches.

Rankers are fitted on them in tests/rankers/test_places_of_rows.py.
"""

import subprocess
import sys
import textwrap
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.tables.parquet_files import rows, table_of, write
from toprank.tables import ParquetBlocks


def test_columns_come_by_their_roles_as_chosen_and_a_file_named_twice_is_read_twice(tmp_path):
    X, y = rows(600)
    groups = np.array([f"day {number % 5}" for number in range(600)])
    columns = {"heavy": np.arange(600) % 3, "day": groups, "text": y.astype(str)}
    path = write(tmp_path / "rows.parquet", X, y, **columns)
    blocks = ParquetBlocks(path, target="y", weight="heavy", group="day", batch_rows=130)
    assert blocks.feature_names == ["x0", "x1", "x2", "x3"]
    parts = blocks.total(lambda block: [block])
    found = [np.concatenate([part[place] for part in parts]) for place in (0, 1, 2, 4)]
    for column, expected in zip(found, (X, y, columns["heavy"], groups), strict=True):
        np.testing.assert_array_equal(column, expected)
    (whole, *_, last) = ParquetBlocks([path, path], target="y", features=["x2", "x0"]).total(
        lambda block: [block]
    )
    np.testing.assert_array_equal(whole.X, X[: len(whole.y), [2, 0]])
    np.testing.assert_array_equal(last.X, X[-len(last.y) :, [2, 0]])
    assert (last.weights, last.groups, last.number > 0) == (None, None, True)


@pytest.mark.parametrize(
    ("columns", "dtype"),
    [
        ({"a": pa.array([1.5, None], pa.float32())}, np.float32),
        ({"a": pa.array([1.5, None], pa.float32()), "b": [True, None]}, np.float32),
        ({"a": pa.array([1.5, None], pa.float32()), "b": [7, None]}, np.float64),
        ({"a": [True, False]}, np.float64),
        ({"a": pa.array([Decimal("1.25"), None])}, np.float64),
    ],
)
def test_numbers_are_floats_and_missing_values_nan(tmp_path, columns, dtype):
    pq.write_table(pa.table({**columns, "y": ["no", "yes"]}), tmp_path / "t.parquet")
    (X,) = ParquetBlocks(tmp_path / "t.parquet", target="y").total(table_of)
    assert X.dtype == dtype
    assert X.flags.f_contiguous
    expected = pa.table(columns).to_pandas().astype(float).to_numpy()
    np.testing.assert_array_equal(X, expected)


@pytest.mark.parametrize("labels", [pa.array([Decimal(0), Decimal(1)]), ["no", "yes"]])
def test_text_and_decimal_labels_are_labels(tmp_path, labels):
    path = write(tmp_path / "t.parquet", np.eye(2), labels)
    (found,) = ParquetBlocks(path, target="y").total(lambda block: [block.y])
    assert found.dtype.kind in "fU"
    assert found.tolist() == (labels if isinstance(labels, list) else [0.0, 1.0])


def test_faults_are_named(tmp_path, file):
    X, y = rows(50, 2)
    words = write(tmp_path / "words.parquet", X, y, word=y.astype(str))

    def refused(path, kind=ValueError, **options):
        with pytest.raises(kind) as caught:
            ParquetBlocks(path, **{"target": "y", **options}).total(table_of)
        return str(caught.value)

    assert "no column 'z' for the target; it has 'x0'" in refused(file, target="z")
    assert "no column 'X 0' for the weight (did you mean 'x0'?)" in refused(file, weight="X 0")
    assert "no column 'g' for the group" in refused(file, group="g")
    assert "no column 'q' for the features" in refused(file, features=["q"])
    assert "holds String" in refused(words, features=["word"])
    assert "is the target" in refused(file, features=["x0", "y"])
    assert "no column of numbers" in refused(file, features=[])
    assert "features name the column 'x0' more" in refused(file, features=["x0", "x0"])
    assert "name the column 'y' more than once" in refused(file, weight="y")
    assert "batch_rows must be a whole number ≥ 1, or None, got 0" in refused(file, batch_rows=0)
    assert "≥ 1, or None, got 'x'" in refused(file, batch_rows="x")
    assert "n_jobs must be a whole number other than 0, got '2'; -1" in refused(file, n_jobs="2")
    assert "target must be the name of a column, got None" in refused(file, TypeError, target=None)
    assert "path must be a path or a list of paths, got None" in refused(None, TypeError)
    assert refused(file, TypeError, features="age") == (
        "features must be a list of column names; pass ['age']."
    )
    absent = tmp_path / "nowhere"
    assert "no folder" in refused(file, FileNotFoundError, scratch=absent)
    nested = write(tmp_path / "nested.parquet", X, y, each=pa.array([[1]] * 50))
    assert "holds List(" in refused(nested, group="each")
    dated = write(tmp_path / "dated.parquet", X, y, day=pa.array(range(50), pa.date32()))
    assert "'day' holds dates; weights are numbers" in refused(dated, weight="day")
    assert "there is no file" in refused(tmp_path / "absent.parquet", FileNotFoundError)
    assert "empty list" in refused([])
    (tmp_path / "folder").mkdir()
    assert "without any .parquet file" in refused(tmp_path / "folder", FileNotFoundError)
    (tmp_path / "void.parquet").touch()
    assert "is empty" in refused(tmp_path / "void.parquet")
    (tmp_path / "cut.parquet").write_bytes(file.read_bytes()[:-40])
    assert "cut.parquet cannot be read as Parquet" in refused(tmp_path / "cut.parquet")
    pq.write_table(pq.read_table(file).slice(0, 0), tmp_path / "none.parquet")
    assert "no rows" in refused(tmp_path / "none.parquet")
    assert "rows.parquet has 'x2' as Float32, words.parquet does not have it" in refused(
        [file, words]
    )
    other = write(tmp_path / "double.parquet", *rows(dtype=np.float64))
    assert "double.parquet has it as Float64" in refused([file, other])
    holes = write(tmp_path / "holes.parquet", X, pa.array([None, 1] * 25))
    assert "missing in some rows; write the file without them, or use toprank fit" in refused(holes)
    holes = write(tmp_path / "lists.parquet", X, y, day=pa.array([None, "a"] * 25))
    assert refused(holes, group="day").endswith("or give these rows a group.")


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in KiB on Linux")
def test_memory_does_not_grow_with_the_row_group(tmp_path):
    script = textwrap.dedent(
        """
        import resource, sys
        import numpy as np, pyarrow as pa, pyarrow.parquet as pq
        from toprank import PNormPush
        from toprank.tables import ParquetBlocks

        def fit(name):
            blocks = ParquetBlocks(name, target="y", batch_rows=20_000, n_jobs=2)
            PNormPush(max_iter=1, tol=1.0).fit_blocks(blocks)
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

        print(fit(sys.argv[1]), fit(sys.argv[2]))
        """
    )
    X, y = rows(1_000_000, 10)
    small = write(tmp_path / "small.parquet", X[:50_000], y[:50_000], 1 << 30)
    large = write(tmp_path / "large.parquet", X, y, 1 << 30)  # one row group of 40 MB
    command = [sys.executable, "-W", "ignore", "-c", script, str(small), str(large)]
    before, after = map(int, subprocess.check_output(command, text=True).split())
    assert after - before < 20_000
