"""
A first push
============

The eights among handwritten digits should come first, and only the first fifty rows of the list
will be looked at. How does a ranker for the top of the list compare with an ordinary one?
"""

import matplotlib.pyplot as plt
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from toprank import PNormPush
from toprank.datasets import load_digits_eights
from toprank.metrics import precision_at_k, roc_auc
from toprank.plots import precision_curve, roc_curve

X, y = load_digits_eights(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)

# %%
# Three linear models: logistic regression, the ranking objective without a push (p = 1), and with
# one (p = 8). There are only 87 positives to learn from, so the penalty is larger than the default.

models = {
    "logistic regression": make_pipeline(MinMaxScaler(), LogisticRegression()),
    "p = 1": PNormPush(p=1, alpha=0.1),
    "p = 8": PNormPush(p=8, alpha=0.1),
}
scores = {
    name: model.fit(X_train, y_train).decision_function(X_test) for name, model in models.items()
}
for name, values in scores.items():
    precision = precision_at_k(y_test, values, k=50)
    print(f"{name:20} precision at 50: {precision:.2f}   AUC: {roc_auc(y_test, values):.3f}")

# %%
# The bands show how much the curves would vary with other test rows. They overlap: on one split of
# a small table, a few rows at the top are chance. ``toprank demo`` makes the comparison by
# five-fold cross-validation and prints an interval of the difference.

precision_curve(y_test, scores)
plt.show()

# %%
# The effect of the push is easier to see at the left end of the ROC curve. In return, the area
# under the whole curve is usually a little smaller.

roc_curve(y_test, scores, counts=True, zoom=30)
plt.show()
