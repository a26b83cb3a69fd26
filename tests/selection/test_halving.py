"""Successive halving, and the simplest of the best."""

import numpy as np

from toprank.selection import family
from toprank.selection.halving import Halving, Trial, simplest_of_the_best
from toprank.selection.splits import LabelledTable


def test_of_equals_the_simplest_is_chosen():
    def trial(simplicity, precision):
        candidate = family(["logistic"])[0]._replace(simplicity=simplicity)
        values = np.array(precision)
        return Trial(candidate, 0, 90, 60, 30, values, values, 0.0)

    close = [trial(0, [0.8, 0.9, 0.7]), trial(1, [0.9, 0.8, 0.8])]
    assert simplest_of_the_best(close).candidate.simplicity == 0
    clear = [trial(0, [0.5, 0.6, 0.4]), trial(1, [0.9, 0.9, 0.8])]
    assert simplest_of_the_best(clear).candidate.simplicity == 1


def test_halving_gives_many_settings_few_rows(rings):
    X, y = rings
    data = LabelledTable(np.tile(X, (10, 1)), np.tile(y, 10), None, None, 50)
    rungs = Halving().rungs(data, 40)
    rows, kept = zip(*rungs, strict=True)
    assert list(rows) == sorted(rows)
    assert rows[0] < rows[-1] == data.n_rows
    assert list(kept) == sorted(kept, reverse=True)
    assert kept[-1] == 1
