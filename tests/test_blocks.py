"""Work in threads stops where one of them fails."""

import pytest

from toprank.blocks import add_up


def test_an_error_stops_the_other_threads():
    started = []

    def work(part, stop):
        started.append(part)
        if part == 0:
            raise ValueError("bad part")
        assert stop.wait(10)
        return part

    with pytest.raises(ValueError, match="bad part"):
        add_up(work, range(100), 2)
    assert len(started) < 5
