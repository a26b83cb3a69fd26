import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest


@pytest.fixture(autouse=True)
def no_windows():
    """Draw without a screen, and keep no figure."""
    with mpl.rc_context({"backend": "Agg"}):
        yield
    plt.close("all")
