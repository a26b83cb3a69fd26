"""
Whom to call
============

A bank can make 300 calls this week. Who says yes depends on interactions of columns: students say
yes to the savings plan, retired people only if their balance is high, and hardly anybody who was
called last month. Trees can model such interactions; a sum of columns cannot. The table is
simulated, so the true probabilities are known.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from toprank import PNormPush, TreeRanker
from toprank.plots import precision_curve

rng = np.random.default_rng(0)
n_rows = 8000
customers = pd.DataFrame(
    {
        "age": rng.integers(18, 85, n_rows).astype(float),
        "balance": rng.lognormal(7, 1, n_rows),
        "months_since_call": rng.integers(0, 24, n_rows).astype(float),
        "branch": pd.Categorical([f"branch {b}" for b in rng.integers(0, 40, n_rows)]),
    }
)
customers.loc[rng.random(n_rows) < 0.4, "months_since_call"] = np.nan  # never called
age, balance = customers["age"], customers["balance"]
good_branch = customers["branch"].cat.codes % 8 == 0
chance = 0.02 + 0.4 * ((age < 26) | ((age > 65) & (balance > 1500))) + 0.1 * good_branch
chance[customers["months_since_call"] < 2] = 0.01
y = rng.random(n_rows) < chance.to_numpy()
train, new = slice(0, 3000), slice(3000, None)

# %%
# The trees need no preparation of the table: numbers, missing values, and a categorical column of
# forty branches. The linear push needs numbers, so it gets one column per branch, and one for
# customers who were never called.

numbers = pd.get_dummies(customers, dtype=float)
numbers["never_called"] = numbers["months_since_call"].isna().astype(float)
numbers = numbers.fillna(0.0)

trees = TreeRanker(n_trees=300, random_state=0).fit(customers[train], y[train])
linear = PNormPush(alpha=0.01).fit(numbers[train], y[train])
scores = {
    "trees": trees.decision_function(customers[new]),
    "linear push": linear.decision_function(numbers[new]),
}
for name, values in scores.items():
    hits = y[new][np.argsort(-values)[:300]].sum()
    print(f"{name:12} {hits} of 300 calls succeed")

# %%
# The share of successes among the first calls, for every number of calls:

precision_curve(y[new], scores)
plt.show()

# %%
# Why is a customer at the top? ``explain`` splits a score into the contributions of the columns.
# The plot shows the contributions for the hundred best customers: for young customers it is the
# age, for old ones age and balance together.

best = trees.top(customers[new], 100)
parts = trees.explain(customers[new].iloc[best])
figure, axes = plt.subplots(figsize=(6.5, 4.0), layout="constrained")
for column, name in enumerate(customers.columns):
    ages = customers[new]["age"].iloc[best]
    axes.scatter(ages, parts[:, column], s=14, marker="osD^"[column], label=name)
axes.axhline(0.0, color="0.7", linewidth=0.8)
axes.set_xlabel("age of the customer")
axes.set_ylabel("contribution to the score")
axes.legend(frameon=False)
plt.show()
