"""One self-contained HTML page about a run: what was ranked, what the top gained, the shortlist."""

from toprank.app.report.curves import Curve, curve_of
from toprank.app.report.model_page import render_model_report, write_model_report
from toprank.app.report.model_run import ModelRun, Reliability, Truth
from toprank.app.report.page import render_report, write_report
from toprank.app.report.picture import Picture, draw_picture
from toprank.app.report.run import Contestant, Run, Shortlist, Subject

__all__ = [
    "Contestant",
    "Curve",
    "ModelRun",
    "Picture",
    "Reliability",
    "Run",
    "Shortlist",
    "Subject",
    "Truth",
    "curve_of",
    "draw_picture",
    "render_model_report",
    "render_report",
    "write_model_report",
    "write_report",
]
