"""
Why a hard push needs more rows
===============================

A one-dimensional example of Rudin (2009, section 10.1). Almost all negatives lie in [-1, 0] and
almost all positives in [0, 1]. But a small share ε of the rows is the other way round and far
out: positives in [-2, -1], negatives in [1, 2].

There are two scoring functions to choose from, x and -x. By all pairs, x is nearly perfect. By the
very top, it is as bad as possible: its first rows are negatives. Only the share ε shows this, and a
small training set may not contain a single row of it.
"""

import matplotlib.pyplot as plt
import numpy as np

from toprank.metrics import r_max, roc_auc

EPSILON = 0.02
rng = np.random.default_rng(0)


def draw(n_rows):
    """Rows of the four intervals in their proportions."""
    far_out = rng.random(n_rows) < EPSILON
    positive = rng.random(n_rows) < 0.5
    left_end = np.where(far_out, np.where(positive, -2, 1), np.where(positive, 0, -1))
    return left_end + rng.random(n_rows), positive


x, y = draw(4000)
fig, ax = plt.subplots(figsize=(6, 2.8), layout="constrained")
bins = np.linspace(-2, 2, 81)
ax.hist([x[~y], x[y]], bins, stacked=True, color=["#D55E00", "#0072B2"])
ax.legend(["negatives", "positives"], frameon=False)
ax.set(xlabel="x", ylabel="Rows", yscale="log")
plt.show()

# %%
# On many rows the two metrics disagree, as expected. R_max is the number of positives below the
# highest negative, here as a share of all positives.


def worst_height(y, scores):
    return r_max(y, scores) / np.sum(y)


for name, scores in (("x", x), ("-x", -x)):
    print(f"{name:>2}: AUC {roc_auc(y, scores):.3f}, R_max {worst_height(y, scores):.3f}")

# %%
# The function -x is better for the very top. Which one does a training set of m rows choose? It can
# be right about the top only if it contains rows far out; the probability of at least one is
# 1 - (1 - ε)^m.

sizes = np.array([10, 20, 50, 100, 200, 400])
trials = 300
right = {"area under the ROC curve": [], "R_max": []}
for m in sizes:
    hits = dict.fromkeys(right, 0)
    for _ in range(trials):
        x, y = draw(m)
        if y.all() or not y.any():
            continue
        hits["R_max"] += worst_height(y, -x) < worst_height(y, x)
        hits["area under the ROC curve"] += roc_auc(y, x) > roc_auc(y, -x)
    for name, count in hits.items():
        right[name].append(count / trials)

fig, ax = plt.subplots(figsize=(6.6, 4.2), layout="constrained")
for (name, share), look in zip(
    right.items(), ({"color": "#0072B2"}, {"color": "#D55E00", "linestyle": "--"}), strict=True
):
    ax.plot(sizes, share, marker="o", label=f"right by {name}", **look)
ax.plot(sizes, 1 - (1 - EPSILON) ** sizes, color="#767676", label="holds a row far out")
ax.set(xlabel="Training rows (m)", ylabel="Share of training sets", xscale="log", ylim=(0, 1.03))
ax.set_xticks(sizes, labels=sizes)
ax.minorticks_off()
fig.legend(loc="outside lower center", ncols=3, frameon=False)
plt.show()

# %%
# The area under the ROC curve gives the right choice after a few rows. R_max, the limit of the push
# for p → ∞, depends on rare rows and needs about 1/ε times as many. The same holds, to a smaller
# degree, for a larger p: use it only if you have enough rows.
