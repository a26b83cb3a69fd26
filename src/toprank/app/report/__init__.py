"""One self-contained HTML page about a run: what was ranked, what the top gained, the shortlist."""

from toprank.app.report.comparison_page import (
    ComparisonRun,
    Contestant,
    Shortlist,
    Subject,
    build_comparison_page,
    shortlist_of,
)
from toprank.app.report.curves import Curve, curve_of
from toprank.app.report.model_page import ModelRun, Quality, Reliability, build_model_page
from toprank.app.report.page import (
    render_model_report,
    render_report,
    write_model_report,
    write_report,
)
from toprank.app.report.picture import Picture, draw_picture

__all__ = [
    "ComparisonRun",
    "Contestant",
    "Curve",
    "ModelRun",
    "Picture",
    "Quality",
    "Reliability",
    "Shortlist",
    "Subject",
    "build_comparison_page",
    "build_model_page",
    "curve_of",
    "draw_picture",
    "render_model_report",
    "render_report",
    "shortlist_of",
    "write_model_report",
    "write_report",
]
