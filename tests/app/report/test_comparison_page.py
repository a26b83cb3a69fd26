"""What a page about a comparison cannot tell is refused."""

from dataclasses import replace

import pytest

from toprank.app.report import (
    Shortlist,
)

EVIL = "<script>alert('x')</script> & \"quotes\""


def test_a_focus_that_was_not_compared_is_refused(run):
    with pytest.raises(ValueError, match="focus='nobody'"):
        replace(run, focus="nobody")


def test_a_shortlist_with_a_missing_cell_is_refused():
    with pytest.raises(ValueError, match=r"rows\[0\] has 1 cells"):
        Shortlist(caption="", columns=("a", "b"), rows=(("1",),))
