"""Medians by passes are those of sorting, however few numbers may be gathered."""

import numpy as np
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
    table = Table(columns)

    def keys(part, name):
        return [medians.sortable_keys(part.column(name).values)]

    def passes(work):
        first, *others = (
            work(table.rows(np.arange(start, min(start + 300, size))))
            for start in range(0, size, 300)
        )
        return sum(others, start=first)

    counts = {name: np.array([medians.digit_counts(*keys(table, name))]) for name in columns}
    found = medians.medians(passes, keys, counts)
    assert found == {name: [float(np.median(values))] for name, values in columns.items()}
