"""Medians by passes are those of sorting, however few numbers may be gathered."""

import numpy as np
import pyarrow as pa
import pytest

from toprank.tables import Table, medians


@pytest.mark.parametrize("gathered", [0, 10, 1 << 22])
@pytest.mark.parametrize("size", [1, 2, 999, 1000])
def test_medians_of_batches_are_those_of_all_rows(gathered, size, monkeypatch):
    monkeypatch.setattr(medians, "GATHERED", gathered)
    rng = np.random.default_rng(size)
    columns = {
        "spread": rng.normal(size=size) * 10.0 ** rng.integers(-300, 300, size),
        "equal": np.full(size, -1.5),
        "few": rng.integers(-2, 3, size).astype(float),
    }
    table = pa.table(columns)

    def keys(part, name):
        return [medians.sortable_keys(part.columns.column(name).to_numpy())]

    def passes(work):
        starts = range(0, size, 300)
        return sum(
            (work(Table(table.slice(start, 300))) for start in starts[1:]),
            start=work(Table(table.slice(0, 300))),
        )

    counts = {name: np.array([medians.digit_counts(*keys(Table(table), name))]) for name in columns}
    found = medians.medians(passes, keys, counts)
    assert found == {name: [float(np.median(values))] for name, values in columns.items()}
