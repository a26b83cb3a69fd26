"""Predtron beside scikit-learn's online linear models, and its searches beside each other."""

import numpy as np
from scipy import sparse
from sklearn.linear_model import Perceptron, SGDClassifier

from benchmarks.timing import best_times, table
from toprank.predtron import PredtronClassifier, PredtronLabelRanker, PredtronMultilabel
from toprank.predtron.losses import discounts, gains
from toprank.predtron.representations import Positions
from toprank.predtron.search import discount_slope, search_by_assignment, search_by_sort

SORTS = 20  # a sort is too quick to be timed alone


def stream(model, X, y, classes, batch):
    """Feed a table to partial_fit batch by batch."""
    for start in range(0, X.shape[0], batch):
        rows = slice(start, start + batch)
        model.partial_fit(X[rows], y[rows], classes=classes)


def compare_streams(title, X, y, batches):
    """Rows a second of each learner on the same batches, and ours over theirs."""
    classes, rows = np.unique(y), []
    learners = {
        "PredtronClassifier": lambda: PredtronClassifier(average=False),
        "PredtronClassifier, averaged": PredtronClassifier,
        "scikit-learn Perceptron": Perceptron,
        "scikit-learn SGDClassifier": SGDClassifier,
    }
    for batch in batches:
        times = best_times(
            {
                name: lambda make=make, batch=batch: stream(make(), X, y, classes, batch)
                for name, make in learners.items()
            }
        )
        ours = times["PredtronClassifier"]
        rows += [(batch, name, X.shape[0] / t, t / ours) for name, t in times.items()]
    table(title, ("batch", "learner", "rows a second", "our rows over theirs"), rows)


def searches(rng):
    """One sort against one linear assignment, for lists of several lengths."""
    rows = []
    for m in (10, 100, 1000):
        scores, grades = rng.normal(size=m), rng.integers(0, 5, size=m)
        worth, shares = gains(grades), discounts(m)
        ideal, heights = float(np.sort(worth)[::-1] @ shares), Positions("discount").heights(m)
        by_sort = (scores, worth, ideal, discount_slope(heights, shares))
        by_assignment = (scores, worth, ideal, heights, shares)
        times = best_times(
            {
                "sort": lambda given=by_sort: [search_by_sort(*given) for _ in range(SORTS)],
                "assignment": lambda given=by_assignment: search_by_assignment(*given),
            }
        )
        sort, assignment = times["sort"] / SORTS, times["assignment"]
        rows.append((m, 1e3 * sort, 1e3 * assignment, assignment / sort))
    table(
        "Loss-augmented search for NDCG, rep = the discount",
        ("documents", "sort, ms", "assignment, ms", "assignment over sort"),
        rows,
    )


def text_like(rng, n_rows, n_features, n_classes):
    """CSR rows with about 50 non-zeros, features by Zipf's law."""
    features = rng.zipf(1.3, size=n_rows * 50) % n_features
    rows = np.repeat(np.arange(n_rows), 50)
    X = sparse.csr_array((np.ones(rows.size), (rows, features)), shape=(n_rows, n_features))
    X.sum_duplicates()
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X, (X @ rng.normal(size=(n_features, n_classes))).argmax(axis=1)


def sparse_rows(rng):
    """Rows of some 50 non-zeros: the time of a round must not grow with the features."""
    rows = []
    for n_features in (1_000, 10_000, 100_000, 1_000_000):
        X, y = text_like(rng, 20_000, n_features, 10)
        model = PredtronClassifier(average=False).partial_fit(X[:100], y[:100], classes=range(10))
        times = best_times({"stream": lambda model=model, X=X, y=y: model.partial_fit(X, y)})
        rows.append((n_features, X.nnz / 20_000, 20_000 / times["stream"]))
    table("Sparse rows, ten classes", ("features", "non-zeros a row", "rows a second"), rows)


def label_sets(rng):
    """Rows a second under the losses of label sets and of label rankings."""
    X = rng.normal(size=(20_000, 50))
    Y = (X @ rng.normal(size=(50, 20)) > 2).astype(int)
    rows = []
    for loss in ("hamming", "subset", "error_set_size"):
        model = PredtronMultilabel(loss=loss, average=False)
        times = best_times({loss: lambda model=model: model.partial_fit(X, Y)})
        rows.append((loss, 20_000 / times[loss]))
    for options in (
        {},
        {"variant": "standard", "representation": "discount"},
        {"loss": "precision_at_k", "k": 3},
    ):
        model = PredtronLabelRanker(average=False, **options)
        times = best_times({"ranking": lambda model=model: model.partial_fit(X, Y)})
        rows.append((f"ranking {options or ''}", 20_000 / times["ranking"]))
    table("Label sets and rankings, 20,000 x 50, 20 labels", ("loss", "rows a second"), rows)


def main():
    rng = np.random.default_rng(0)
    searches(rng)
    X = rng.normal(size=(50_000, 100))
    margins = X @ rng.normal(size=(100, 10)) + 3 * rng.normal(size=(50_000, 10))
    two, ten = (margins[:, 0] > 0).astype(int), margins.argmax(axis=1)
    compare_streams("Two classes, 50,000 x 100", X, two, (100, 1000, 10_000))
    compare_streams("Ten classes, 50,000 x 100", X, ten, (100, 1000, 10_000))
    X, y = text_like(rng, 20_000, 100_000, 2)
    compare_streams("Two classes, 20,000 x 100,000, sparse", X, y, (1000, 10_000))
    sparse_rows(rng)
    label_sets(rng)


if __name__ == "__main__":
    main()
