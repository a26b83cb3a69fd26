"""
Which pairs an objective depends on
===================================

The exponential push is a sum of terms, one for every pair of a positive and a negative. These plots
show the share of each pair in the sum, for a list of twelve positives and eight negatives.
"""

import matplotlib.pyplot as plt

from toprank.plots import pair_contributions

labels = [1, 1, 0, 1, 1, 1, 0, 1, 0, 1, 1, 0, 1, 1, 0, 0, 1, 0, 1, 0]
scores = [1.0 - 0.1 * place for place in range(20)]

# %%
# Every column is a negative, the highest on the left; every row is a positive, the best at the
# bottom. Light squares have the largest share. With p = 1 the low positives at the top of the plot
# matter, together with every negative. As p grows, the light squares move to the left: only the
# highest negatives matter.

pair_contributions(labels, scores, p=[1, 4, 16])
plt.show()

# %%
# The IR Push is a sum of logarithms over positives. A positive far down the list can no longer
# dominate the sum, so positives near the top of the list have larger shares.

pair_contributions(labels, scores, p=[1, "ir"])
plt.show()
