"""The shortlist of a comparison names rows of the table, best first."""

import numpy as np

from toprank.app.report.comparison_page import shortlist_of


def test_the_shortlist_names_rows_of_the_table(run):
    numbers = np.arange(40) * 2  # every second row of the table was left out
    found = shortlist_of(run["found"], "push", numbers)
    assert found.columns == ("Place", "Row of the table", "Score", "Is positive")
    assert len(found.rows) == run["found"].budget
    assert found.rows[0] == (1, 77, 88.0, "yes")
    assert found.rows[1] == (2, 73, 86.0, "yes")
