"""LIBSVM and LETOR text: ``label [qid:list] feature:value …``, features that are 0 left out."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

__all__ = ["GROUP", "LABEL", "MOST_CELLS", "read_sparse_text"]

LABEL, GROUP = "label", "qid"
# Columns are held dense; beyond this a table belongs in another program (8 GB of numbers).
MOST_CELLS = 1_000_000_000


def read_sparse_text(content: bytes, name: str) -> pa.Table:
    """Read the text into columns: ``label``, ``qid`` where there are lists, then each feature."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} is not text in UTF-8; is it another format?") from error
    labels: list[float] = []
    lists: list[str] = []
    features: list[int] = []
    values: list[float] = []
    counts: list[int] = []
    for number, line in enumerate(text.split("\n"), start=1):
        words = line.split("#", 1)[0].split()
        if not words:
            continue
        try:
            labels.append(float(words[0]))
            if len(words) > 1 and words[1].startswith("qid:"):
                lists.append(words.pop(1)[4:])
            pairs = [word.split(":") for word in words[1:]]
            features += [int(feature) for feature, _ in pairs]
            values += [float(value) for _, value in pairs]
        except ValueError:
            raise ValueError(
                f"{name}, line {number} is not 'label [qid:list] feature:value …': {line[:60]!r}."
            ) from None
        counts.append(len(pairs))
    if not labels:
        raise ValueError(f"{name} holds no rows; a line is 'label [qid:list] feature:value …'.")
    if lists and len(lists) != len(labels):
        raise ValueError(f"{name} has a qid on {len(lists)} of {len(labels)} lines; give all one.")
    table = _dense(np.array(features), np.array(values), np.array(counts), name)
    columns = {LABEL: pa.array(_whole(np.array(labels)))}
    if lists:
        columns[GROUP] = pa.array(lists)
    columns |= {str(number): pa.array(column) for number, column in table.items()}
    return pa.table(columns)


def _whole(labels: np.ndarray) -> np.ndarray:
    if np.isfinite(labels).all() and (labels == np.floor(labels)).all():
        return labels.astype(np.int64)
    return labels


def _dense(
    features: np.ndarray, values: np.ndarray, counts: np.ndarray, name: str
) -> dict[int, np.ndarray]:
    if not features.size:
        raise ValueError(f"{name} has labels but no feature; a line is 'label feature:value …'.")
    if features.min() < 0:
        raise ValueError(f"{name} has the feature number {features.min()}; they start at 0 or 1.")
    numbers = np.unique(features)
    if numbers.size * counts.size > MOST_CELLS:
        raise ValueError(
            f"{name} has {counts.size:,} rows of {numbers.size:,} features, too many to hold dense;"
            " choose features first."
        )
    rows = np.repeat(np.arange(counts.size), counts)
    dense = np.zeros((numbers.size, counts.size))
    places = np.searchsorted(numbers, features)
    dense[places, rows] = values
    if np.unique(places * counts.size + rows).size != features.size:
        raise ValueError(f"{name} gives a row the same feature twice; give each once.")
    return {int(number): dense[place] for place, number in enumerate(numbers)}
