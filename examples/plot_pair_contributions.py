"""
Which pairs an objective looks at
=================================

The exponential push adds up a term for every pair of a positive and a negative. These pictures
show how much each pair has in that sum, for a list of twelve positives and eight negatives.
"""

import matplotlib.pyplot as plt

from toprank.plots import pair_contributions

labels = [1, 1, 0, 1, 1, 1, 0, 1, 0, 1, 1, 0, 1, 1, 0, 0, 1, 0, 1, 0]
scores = [1.0 - 0.1 * place for place in range(20)]

# %%
# Every column is a negative, the highest on the left; every row is a positive, the best at the
# bottom. Light squares have the largest part. With p = 1 the badly placed positives at the top of
# the picture matter, whichever negative they are compared with. As p grows, the light moves to
# the left: only the highest negatives are left.

pair_contributions(labels, scores, p=[1, 4, 16])
plt.show()

# %%
# The IR Push sums over positives instead and takes a logarithm. A positive far down the list can
# no longer shout louder than all others, so the light reaches further down, to positives that
# stand near the top.

pair_contributions(labels, scores, p=[1, "ir"])
plt.show()
