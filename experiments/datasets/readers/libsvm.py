"""LIBSVM's text format, which the LETOR ranking sets share: ``label qid:q index:value ...``."""

from __future__ import annotations

import io
from dataclasses import dataclass

import numpy as np

from experiments.datasets.readers.raw import Raw

__all__ = ["Libsvm"]


@dataclass(frozen=True)
class Libsvm:
    """LIBSVM text with a known number of features, indices counted from 1."""

    n_features: int
    sparse: bool = False
    lists: bool = False

    def __call__(self, text: bytes) -> Raw:
        """Features, integer labels and (for ranked lists) the query of each row."""
        from scipy.sparse import csr_array  # noqa: PLC0415 (slow to import)
        from sklearn.datasets import load_svmlight_file  # noqa: PLC0415 (slow to import)

        X, y, queries = load_svmlight_file(
            io.BytesIO(text), n_features=self.n_features, zero_based=False, query_id=True
        )
        return Raw(
            csr_array(X) if self.sparse else X.toarray(),
            y.astype(np.int64),
            tuple(f"x{i}" for i in range(1, self.n_features + 1)),
            target_names=("relevance",) if self.lists else ("target",),
            groups=queries.astype(np.int64) if self.lists else None,
        )
