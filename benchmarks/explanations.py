"""Why a peer is ahead, why an exponent is steep, where slack goes: told where it is so.

Keys are words that must occur in the names of a row: ours and the peer's, or the name alone.
"""

PEERS: dict[tuple[str, str], str] = {
    ("LinearRankSVM (all pairs)", "LinearSVC (single rows)"): (
        "Every step sorts all rows, because it weighs all pairs; a classifier of single rows looks "
        "at each row alone. Liblinear's Newton steps are compiled throughout."
    ),
    ("PrecisionAtKRanker (perceptron", "SGDClassifier"): (
        "Each batch is scored, its top is found by a partial sort, and the average model is kept; "
        "SGDClassifier takes one row at a time and neither sorts nor averages."
    ),
    ("PrecisionAtKRanker (sgd", "SGDClassifier"): (
        "Each batch is scored and its top is found by a partial sort before it moves the weights; "
        "ramp does so twice. SGDClassifier takes one row at a time and sorts nothing. Ours also "
        "scales the features within the timed fit, theirs were scaled before."
    ),
    ("PredtronClassifier", "SGDClassifier"): (
        "On short batches most of the time goes into checking the batch, in both."
    ),
    ("LightGBM with our push, squared hinge", "LightGBM, binary"): (
        "The hinges sort all scores of the list in every round; `binary` looks at each row alone. "
        "The exponential pushes need no sort."
    ),
    ("LightGBM with our", "LightGBM, binary"): (
        "Our gradients come back through Python as two arrays that LightGBM copies in, its own "
        "stay inside; scores also pass through the exponential twice."
    ),
    ("XGBoost with our", "XGBoost"): (
        "Our gradients come back through Python as two arrays that XGBoost copies in, its own stay "
        "inside, and it first copies all scores out in every round."
    ),
    ("IRPush", "LogisticRegression"): (
        "IRPush sums over all rows for every positive's logarithm, so an iteration needs more "
        "exponentials; its default tolerance is also tighter."
    ),
    ("decision_function", "LogisticRegression"): (
        "Both multiply the table once; checks of columns and names take the rest."
    ),
    ("RankBoost", "XGBoost"): "XGBoost keeps its bins compressed and its gradients in float32.",
    ("RankBoost", "LightGBM"): "LightGBM keeps its gradients in float32.",
    ("PNormPush", "LogisticRegression"): (
        "L-BFGS here keeps four vectors of one float64 a row (scores, move, trial, gradient) to "
        "spare passes over the table; scikit-learn keeps float32 ones."
    ),
}
GROWTH: dict[tuple[str], str] = {
    ("pnorm_error",): (
        "nothing in it grows faster than its rows, but 100,000 rows lie in the second-level cache "
        "and 10,000,000 do not: the picture's lower half shows a step, not a slope."
    ),
    ("ndcg",): (
        "as above, the arrays of 100,000 rows lie in the cache and those of 10,000,000 do not."
    ),
    ("",): "the arrays of 100,000 rows lie in the cache and those of 10,000,000 do not.",
}
SLACK: dict[tuple[str], str] = {
    ("push: value and gradient",): (
        "a handful of NumPy passes over blocks that stay in the cache (largest, exponent, "
        "exponential, two sums, scaling) on one thread; the exponential alone takes a tenth. It "
        "computes and does not wait for memory. Each exponential is taken once."
    ),
    ("push: a whole iteration",): (
        "a third of it is value and gradient, see there; the two products with the table are near "
        "the limit."
    ),
    ("push: gradient",): "blocks of 16,384 rows are too short for two BLAS threads to share well.",
    ("push: scores",): "blocks of 16,384 rows are too short for two BLAS threads to share well.",
    ("boosting",): (
        "every cell adds to one of 255 sums of its column, and two neighbours that add to the same "
        "sum wait for each other: about a third of a nanosecond a cell, which is arithmetic, not "
        "memory. Weights are read again for every block of columns."
    ),
    ("roc_auc",): (
        "each of eight passes of the sort writes to 256 places at once, which the bandwidth of a "
        "straight triad does not describe; after it come a dozen passes of NumPy, each with an "
        "array of its own."
    ),
    ("precision_at_k",): (
        "labels are checked, and scores are looked at three times: for their finiteness, for the "
        "best of each heap, and against the bound."
    ),
}
YARDSTICK = """Value and gradient of every push on a million scores, beside one `np.argsort` of the
same scores. This is no peer but a yardstick that carries from one machine to the next: a push that
looks at ranks cannot do without a sort. Exponential pushes need none; the hinges and the logistic
loss sort by digits, faster than `np.argsort`, and then sweep over the sorted rows; lists are dealt
out first; the logistic loss adds two series."""
