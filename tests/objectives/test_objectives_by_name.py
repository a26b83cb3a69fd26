"""Objectives by name."""

import pytest

from toprank.objectives import LogLoss, objective_named, pnorm_push


def test_names_and_options_are_checked_at_once():
    assert objective_named("log_loss", {}) == LogLoss()
    assert objective_named("pnorm_push", {"p": 8}) == pnorm_push(8)
    with pytest.raises(ValueError, match="objective='push' is not known; choose one of pnorm_push"):
        objective_named("push", {})
    with pytest.raises(TypeError, match="Push has its options already; p can only"):
        objective_named(pnorm_push(), {"p": 4})
    with pytest.raises(ValueError, match="p must be a number ≥ 1"):
        objective_named("pnorm_push", {"p": 0})
