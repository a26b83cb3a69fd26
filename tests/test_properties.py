"""Properties are tried on the same examples in every run of the suite, on fresh ones by fuzzing."""

import sys
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


def tried_examples():
    """What hypothesis tries of two strategies in a run of its own."""
    tried = []

    @settings(max_examples=200, database=None)
    @given(st.floats(), st.integers())
    def record(number, count):
        tried.append((repr(number), count))

    record()
    return tried


@pytest.mark.skipif(not settings.default.derandomize, reason="fuzzing tries fresh examples")
def test_examples_do_not_depend_on_what_is_imported(tmp_path, monkeypatch):
    before = tried_examples()
    module = ModuleType("constants")
    path = tmp_path.parent / "constants.py"  # hypothesis skips folders that are named test
    path.write_text("\n".join(f"N{i} = {i * 1_000_003}.5, {i * 999_983}" for i in range(1, 200)))
    module.__file__ = str(path)
    monkeypatch.setitem(sys.modules, "constants", module)
    assert tried_examples() == before
