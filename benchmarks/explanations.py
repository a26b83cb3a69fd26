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
    ("LightGBM with our push, squared hinge", "LightGBM, binary"): (
        "The hinges sort all scores of the list in every round; `binary` looks at each row alone. "
        "The exponential pushes need no sort."
    ),
    ("with our", ""): (
        "Our gradient and curvature take several passes of NumPy on one thread and are copied into "
        "the engine, which first copies the scores out; its own are one compiled loop inside."
    ),
    ("PNormPush", "LogisticRegression"): (
        "The solver keeps four vectors of one float64 per row (scores, their move, a trial and its "
        "gradient), so that trials of a step cost no pass over the table. scikit-learn's vectors "
        "have the table's float32, and it looks at the table at every trial."
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
        "a handful of NumPy passes over blocks that stay in the cache (largest, exponent, "
        "exponential, two sums, scaling), on one thread. The exponential alone takes a tenth. This "
        "part computes and does not wait for memory; each exponential is taken once."
    ),
    ("push: a whole iteration",): (
        "a third of it is value and gradient, see there; the products with the table are within "
        "1.6 of the limit."
    ),
    ("boosting",): (
        "a profile gives seven tenths to adding each cell's changed weight to one of 255 sums of "
        "its column, a third of a nanosecond per cell, and a quarter to multiplying the weights. "
        "The first is scattered additions within the cache, which no bandwidth speeds up."
    ),
    ("roc_auc",): (
        "over four tenths go into the sort, each of whose eight passes writes to 256 places at "
        "once, unlike a straight triad; the rest are some dozen NumPy passes, most of them with a "
        "fresh array, of which the bytes above count few."
    ),
    ("precision_at_k",): (
        "labels are checked, and scores are read three times: to see that they are finite, for the "
        "best of each heap, and against the bound."
    ),
}
YARDSTICK = """Value and gradient of every push on a million scores, beside one `np.argsort` of the
same scores. This is no peer but a yardstick that carries from one machine to the next: a push that
looks at ranks cannot do without a sort. Exponential pushes need none; the hinges and the logistic
loss sort by digits, faster than `np.argsort`, and then sweep over the sorted rows; lists are dealt
out first; the logistic loss adds two series."""
# Of the results that are kept; a new run may have had the machine to itself.
MEANWHILE = """It had other work at lower priority while these figures were taken, which shows in
wide intervals, and most where two threads take part."""
