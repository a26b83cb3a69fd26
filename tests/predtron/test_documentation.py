"""The docstrings of the learners are complete."""

import inspect
import re

import pytest
from sklearn.base import BaseEstimator

from toprank import predtron

NAMED = [getattr(predtron, name) for name in predtron.__all__]
LEARNERS = [each for each in NAMED if isinstance(each, type) and issubclass(each, BaseEstimator)]


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_parameter_is_documented_with_its_default(learner):
    documented = inspect.getdoc(learner)
    assert "{" not in re.sub(r"\{\"[^}]*\}|``\{[^}]*\}``", "", documented)
    for parameter in inspect.signature(learner).parameters.values():
        entry = re.search(rf"^{parameter.name} : (.*)$", documented, flags=re.MULTILINE)
        assert entry, parameter.name
        if parameter.default is not parameter.empty:
            shown = repr(parameter.default).replace("'", '"')
            assert entry[1].endswith(f"default={shown}")
