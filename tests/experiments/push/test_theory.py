import matplotlib.pyplot as plt
import numpy as np
import pytest

from experiments.push.theory import discount_factors, root_bounds


def test_discount_factors_stand_in_the_papers_order():
    ax = discount_factors()
    upper, middle, lower = (line.get_ydata()[-1] for line in ax.lines)
    assert upper > middle > lower
    with pytest.raises(ValueError, match="max_rank"):
        discount_factors(max_rank=1)


@pytest.mark.parametrize(("p", "a"), [(4.0, 0.4), (1.0, 1.0), (64.0, 1e-3)])
def test_the_curves_lie_in_the_order_that_lemma_7_proves(p, a):
    upper, middle, lower = (line.get_ydata() for line in root_bounds(p=p, a=a).lines)
    assert np.all(lower <= middle + 1e-12)
    assert np.all(middle <= upper + 1e-12)


def test_the_axes_given_are_drawn_on():
    _, ax = plt.subplots()
    assert root_bounds(ax=ax) is ax


@pytest.mark.parametrize("bad", [{"p": 0.5}, {"p": np.inf}, {"a": 0.0}, {"a": 1.5}])
def test_values_outside_the_lemma_are_refused(bad):
    with pytest.raises(ValueError, match=f"{next(iter(bad))}="):
        root_bounds(**bad)
