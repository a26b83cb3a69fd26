"""
A list that comes with promises
===============================

How many rows of a list are positive, and which length is the most profitable? Both are estimated
from rows that the model was not fitted on.
"""

import matplotlib.pyplot as plt
import numpy as np

from toprank import PNormPush
from toprank.plots import value_curve
from toprank.shortlists import hits_at_least

rng = np.random.default_rng(0)


def customers(n_rows):
    """Rows of ten features, of which one in ten is positive."""
    y = rng.random(n_rows) < 0.1
    X = rng.normal(size=(n_rows, 10))
    X[y, :5] += 1.0
    return X, y


model = PNormPush(p=4).fit(*customers(3000)).calibrate(*customers(3000))
X, y = customers(2000)

# %%
# A list with at most 20 % false alarms, on average over lists. The labels are known here, so the
# promise can be checked.

found = model.shortlist(X, false_alarms=0.2)
print(found)
print(f"false alarms in this list: {np.mean(~y[found.rows]):.0%}")

# %%
# A positive is worth 10 and opening a row costs 1: the list ends where the expected gain is zero.

paying = model.shortlist(X, value=10, cost=1)
print(paying)
print(f"profit of this list: {10 * y[paying.rows].sum() - len(paying)}")

# %%
# Left: the hits for every length, and the lower bound that holds for all lengths at once with 95 %
# confidence. Right: the profit for every length; the dashed line is the end of the list above.

scores = model.decision_function(X)
hits = np.cumsum(y[np.argsort(-scores)])
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
lengths = np.arange(1, 301)
left.plot(lengths, hits[:300], color="#0072B2", label="hits")
left.plot(
    lengths,
    hits_at_least(model.calibration_, scores)[:300],
    color="#D55E00",
    linestyle="--",
    label="at least, 95 % confidence",
)
left.set(xlabel="Rows in the shortlist", ylabel="Positives among them")
left.legend(frameon=False)
value_curve(y, scores, value=10, cost=1, max_k=1000, ax=right)
right.axvline(len(paying), color="#767676", linestyle="--", linewidth=1)
plt.show()
