"""Drawings are right on light and dark."""

EVIL = "<script>alert('x')</script> & \"quotes\""


def test_drawings_take_the_colours_of_the_page(run):
    svg = run["pictures"][0].svg
    assert "var(--series-1)" in svg
    assert "currentColor" in svg
    assert "#0072b2" not in svg.lower()
    assert "#010203" not in svg
