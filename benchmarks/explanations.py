"""Why a peer is ahead, why an exponent is steep, where slack goes: told where it is so.

Keys are words that must occur in the names of a row: ours and the peer's, or the name alone.
"""

PEERS: dict[tuple[str, str], str] = {
    ("PrecisionAtKRanker", "SGDClassifier"): (
        "Each batch is scored and its top is found by a partial sort before it moves the weights; "
        "ramp looks at each batch twice, and perceptrons keep their average model. SGDClassifier "
        "takes one row at a time and sorts nothing. Ours also scales the features within the timed "
        "fit; theirs were scaled before."
    ),
    ("PredtronClassifier", ""): (
        "Within the noise of these runs: both take one row at a time in a compiled loop, and both "
        "check every batch first."
    ),
    ("precision_at_k", "argpartition"): (
        "numpy partitions with AVX-512 here. Ours first checks that scores are finite and labels "
        "of two classes."
    ),
    ("LightGBM with our push, squared hinge", "LightGBM, binary"): (
        "The hinges sort the scores of both classes in every round and sweep over them for the "
        "heights and for the way back; `binary` looks at each row alone. The exponential pushes "
        "need no sort."
    ),
    ("LightGBM with our push, logistic", "LightGBM, binary"): (
        "All pairs go through fifteen Chebyshev moments of every row, six times for gradient and "
        "Hessian; `binary` takes one exponential of each row."
    ),
    ("LightGBM with our IR push", "LightGBM, binary"): (
        "Two passes, since the slopes of the positives need the sum over all negatives, and those "
        "of the negatives the sum over all positives; `binary` takes one."
    ),
    ("with our", ""): (
        "Gradient and curvature are copied into the engine, which first copies the scores out; its "
        "own are one compiled loop inside."
    ),
    ("PNormPush", "LogisticRegression"): (
        "The solver keeps the scores in float64, their move or the gradient in the table's "
        "float32, and a byte per label: 13 bytes per row, and a sample of rows for the curvature. "
        "scikit-learn's vectors have the table's float32, and it looks at the table at every trial."
    ),
}
GROWTH: dict[tuple[str], str] = {
    ("",): (
        "nothing in it grows faster than its rows, but the arrays of 100,000 rows lie in the "
        "second-level cache and those of 10,000,000 do not. From run to run exponents of metrics "
        "moved by as much as 0.07, with the time of the 100,000 rows."
    ),
}
SLACK: dict[tuple[str], str] = {
    ("push: value and gradient",): (
        "edges, exponents and sums of a chunk are compiled loops in the cache, each exponential is "
        "taken once; this part computes more than it waits for memory."
    ),
    ("push: scores",): "products of a chunk run in the table's own float32 on one thread each.",
    ("push: gradient",): (
        "products of a chunk with its residuals, one thread each: a sum per column and chunk, "
        "which BLAS does not bring to the memory's limit; on two threads other work on the machine "
        "took part of the second core."
    ),
    ("push: a whole iteration",): "the products with the table, see there.",
    ("boosting",): (
        "most of it adds each cell's changed weight to one of 255 sums of its column, four columns "
        "at a time: scattered additions within the cache, which no bandwidth speeds up."
    ),
    ("roc_auc",): (
        "a third goes into the sort, which compares; the rest are some dozen NumPy passes, most of "
        "them with a fresh array, whose pages the system has to find first."
    ),
    ("precision_at_k",): (
        "labels are checked, and scores are read three times: to see that they are finite, for the "
        "best of each heap, and against the bound."
    ),
}
YARDSTICK = """Value and gradient of every push on a million scores, beside one `np.argsort` of the
same scores. This is no peer but a yardstick that carries from one machine to the next; where numpy
sorts with AVX-512, as here, `np.argsort` takes a third of what it takes elsewhere. Exponential
pushes need no sort. The hinges sort each class and sweep over both; lists are dealt out after a
sort of all rows. The logistic loss adds Chebyshev series on cells of the scores, without a sort;
in lists it sorts and adds two series."""
# Of the results that are kept; a new run may have had the machine to itself.
MEANWHILE = """The machines had other work at lower priority while these figures were taken, which
shows in wide intervals, and most where two threads take part."""
