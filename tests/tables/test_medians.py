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

    for weights in (None, rng.integers(1, 4, size).astype(float)):

        def keys(part, name, own):
            return [(medians.sortable_keys(part.column(name).values), own)]

        def passes(work, weights=weights):
            parts = [np.arange(start, min(start + 300, size)) for start in range(0, size, 300)]
            own = [None if weights is None else weights[part] for part in parts]
            first, *others = map(work, map(table.rows, parts), own)
            return sum(others, start=first)

        counts = {
            name: np.array([medians.digit_counts(*keys(table, name, weights))]) for name in columns
        }
        times = 1 if weights is None else weights.astype(int)
        assert medians.medians(passes, keys, counts) == {
            name: [float(np.median(np.repeat(each, times)))] for name, each in columns.items()
        }
