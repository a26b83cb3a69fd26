"""One self-contained HTML page about a run: what was ranked, what the top gained, the shortlist."""

from toprank.report.comparison import Comparison, Interval, compare
from toprank.report.curves import Curve, curve_of
from toprank.report.model_page import render_model_report, write_model_report
from toprank.report.model_run import ModelRun, Reliability, Truth
from toprank.report.page import render_report, write_report
from toprank.report.picture import Picture, draw_picture
from toprank.report.run import Contestant, Run, Shortlist, Subject

__all__ = [
    "Comparison",
    "Contestant",
    "Curve",
    "Interval",
    "ModelRun",
    "Picture",
    "Reliability",
    "Run",
    "Shortlist",
    "Subject",
    "Truth",
    "compare",
    "curve_of",
    "draw_picture",
    "render_model_report",
    "render_report",
    "write_model_report",
    "write_report",
]
