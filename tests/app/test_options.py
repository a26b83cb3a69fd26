"""Options are read as people write them."""

import numpy as np
import pytest

from toprank.app.options import parse_settings
from toprank.selection.candidates import make_ranker


def test_settings_are_read_as_people_write_them():
    assert parse_settings(["p=inf", "loss=logistic", "tol=none", "alpha=1e-2"]) == {
        "p": np.inf,
        "loss": "logistic",
        "tol": None,
        "alpha": 0.01,
    }
    with pytest.raises(ValueError, match="NAME=VALUE"):
        parse_settings(["p"])
    with pytest.raises(ValueError, match="no setting 'q'"):
        make_ranker("pnorm-push", {"q": 1})
    with pytest.raises(ValueError, match="no ranker 'magic'"):
        make_ranker("magic")
