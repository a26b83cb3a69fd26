"""One self-contained HTML page about a run: what was ranked, what the top gained, the shortlist."""

from toprank.app.report.comparison_page import ComparisonRun, build_comparison_page, shortlist_of
from toprank.app.report.model_page import build_model_page
from toprank.app.report.page import render_report, write_report
from toprank.app.report.picture import draw_picture

__all__ = [
    "ComparisonRun",
    "build_comparison_page",
    "build_model_page",
    "draw_picture",
    "render_report",
    "shortlist_of",
    "write_report",
]
