"""One self-contained HTML page about a run: what was ranked, what the top gained, the shortlist."""

from toprank.report.comparison import Comparison, Interval, compare
from toprank.report.page import render_report, write_report
from toprank.report.picture import Picture, draw_picture
from toprank.report.run import Contestant, Run, Shortlist, Subject

__all__ = [
    "Comparison",
    "Contestant",
    "Interval",
    "Picture",
    "Run",
    "Shortlist",
    "Subject",
    "compare",
    "draw_picture",
    "render_report",
    "write_report",
]
