"""Loops behave alike with and without the compiler."""

import numpy as np

from toprank.kernels import jit


def test_loops_that_are_not_compiled_overflow_without_a_warning(monkeypatch):
    monkeypatch.setattr(jit, "IS_COMPILED", False)

    @jit.compiled
    def product(a, b):
        return a * b

    assert product(np.uint64(2**63 + 1), np.uint64(2)) == 2
