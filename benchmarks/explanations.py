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
        "Both take one row at a time in a compiled loop and check every batch first. Ours looks "
        "for the best of any outputs, of which two classes are the smallest case; theirs is "
        "written for two classes."
    ),
    ("precision_at_k", "argpartition"): (
        "numpy partitions with AVX-512 here. Ours checks on the way that scores are finite and "
        "labels of two classes. At ten million rows it takes half of what `argpartition` takes."
    ),
    ("LightGBM with our push, squared hinge", "LightGBM, binary"): (
        "The hinges sort the scores in every round and sweep over them for the heights, for the "
        "gradient and for the curvature; `binary` looks at each row alone. The exponential pushes "
        "need no sort. On two threads, LightGBM's second one spins while the objective runs, so "
        "that ours finds no free core: with `GOMP_SPINCOUNT=1000` a callback takes a fifth less."
    ),
    ("LightGBM with our push, logistic", "LightGBM, binary"): (
        "All pairs go through fifteen moments of every row, three times, and back through six "
        "polynomials for gradient and Hessian; `binary` takes one exponential of each row. On two "
        "threads LightGBM leaves ours no free core, as with the squared hinge."
    ),
    ("LightGBM with our IR push", "LightGBM, binary"): (
        "Three passes on one thread, since the slopes of the positives need the sum over all "
        "negatives, and those of the negatives the sum over all positives; `binary` takes one, on "
        "all threads."
    ),
    ("with our", ""): (
        "The engine copies the scores out and the gradient and curvature in; its own are one "
        "compiled loop inside, on all threads, and need no sum over all rows."
    ),
    ("TreeRanker", "HistGradientBoosting"): (
        "Splits of its trees are chosen leaf by leaf; ours compares all leaves of a level for one "
        "common split, and prices pairs."
    ),
    ("TreeRanker", ""): (
        "Trees of the same number and depth; ours prices pairs of the whole list in every round."
    ),
    ("TopRanker", "AutoGluon"): (
        "TopRanker fits every member on four splits to choose and to blend for the budget, and "
        "keeps further splits for its promise; AutoGluon holds out one part of the rows."
    ),
    ("decision_function", ""): (
        "Both multiply by BLAS; ours deals the rows out to threads in chunks, which costs a few "
        "hundredths where the product is bound by memory."
    ),
    ("PNormPush", "LogisticRegression"): (
        "The solver keeps the scores in float64, their move or the gradient in the table's "
        "float32, and a byte per label: 13 bytes per row, and a sample of rows for the curvature. "
        "scikit-learn's vectors have the table's float32, and it looks at the table at every trial."
    ),
}
GROWTH: dict[tuple[str], str] = {
    ("precision_at_k",): (
        "nothing in it grows faster than its rows: it reads scores and labels once. Those of "
        "1,000,000 rows come from the third-level cache and those of 30,000,000 from memory."
    ),
    ("TreeRanker",): (
        "nothing in it grows faster than its rows, but scores and gradients of 1,000,000 rows lie "
        "in the third-level cache, and those of 30,000,000 do not."
    ),
    ("RankBoost",): (
        "nothing in it grows faster than its rows, but weights and scores of 1,000,000 rows lie in "
        "the third-level cache, and those of 30,000,000 do not."
    ),
    ("",): (
        "its sort by comparisons has an exponent of 1.06, and the arrays of 1,000,000 rows fit "
        "into the third-level cache, those of 30,000,000 do not."
    ),
}
SLACK: dict[tuple[str], str] = {
    ("push: value and gradient",): (
        "edges, exponents and sums of a chunk are compiled loops in the cache, each exponential is "
        "taken once; this part computes more than it waits for memory."
    ),
    ("push: scores",): "products of a chunk run in the table's own float32 on one thread each.",
    ("push: gradient",): (
        "compiled loops sum the products of a chunk with its residuals, one thread each, a sum per "
        "column and chunk."
    ),
    ("push: a whole iteration",): "the products with the table, see there.",
    ("boosting",): (
        "most of it adds each cell's changed weight to one of 255 sums of its column, four columns "
        "at a time: scattered additions within the cache, which no bandwidth speeds up."
    ),
    ("roc_auc",): (
        "the scores of each class are sorted by comparisons, in vector registers where the "
        "processor has them: that computes more than it waits for memory."
    ),
    ("precision_at_k",): (
        "labels are checked, and scores are compared with a bound from a sample, block by block; a "
        "sum of each block tells whether they are finite."
    ),
}
YARDSTICK = """Value and gradient of every push on a million scores, beside one `np.argsort` of the
same scores. This is no peer but a yardstick that carries from one machine to the next; where numpy
sorts with AVX-512, as here, `np.argsort` takes a third of what it takes elsewhere. Exponential
pushes need no sort. The hinges sort all scores and sweep over them twice. The logistic loss adds
Chebyshev series on cells of the scores, without a sort; in lists it sorts each and adds two
series."""
# Of the results that are kept; a new run may have had other work beside it.
MEANWHILE = """The benchmarks ran one after the other on a virtual machine without other work; what
its host did meanwhile is not known, and shows in wide intervals."""
