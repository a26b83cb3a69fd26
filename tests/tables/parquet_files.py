"""Parquet files of random rows, for tests of what reads them."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


def rows(n_rows=3000, n_features=4, seed=0, dtype=np.float32):
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(n_rows, n_features)) * np.arange(1, n_features + 1)).astype(dtype)
    y = (X[:, 0] + rng.normal(size=n_rows) > 1).astype(np.int8)
    return X, y


def write(path, X, y, group_rows=700, **more):
    columns = {f"x{j}": column for j, column in enumerate(X.T)} | {"y": y} | more
    pq.write_table(pa.table(columns), path, row_group_size=group_rows)
    return path


def table_of(block):
    return [block.X]
