"""What the page on the ranking SVM experiments says around its tables."""

OPENING = """\
# Ranking SVMs

The tables and figures of Suehiro, Hatano and Takimoto, *Efficient Reformulation of 1-Norm Ranking
SVM* (2018), computed anew with `make reproduce PAPER=ranking-svm`. Cells show ours / the paper's.
Every AUC is the mean over five folds at the best ν: of 0.15 and 0.2 on artificial data, of 0.05 and
0.2 on real data (the paper tries 0.05, 0.1, 0.15 and 0.2). Ties count as wrong, as its definition
has it, so a scorer with w = 0 has an AUC of 0.

Where the paper leaves something open: on artificial data weights are not negative and add up to 1,
without the constant hypothesis (with it, all weight is on the constant wherever ν is below the
noise of the pairs, and the AUC is 0: see below); on real data they are of both signs, on features
scaled to [-1, 1]. RankBoost runs 1,000 rounds on thresholds, SoftRankBoost 100 on the features.
SVM-Perf is another program; beside its numbers stands the exact 2-norm form, the same model with
ν in place of C."""

TEXTS = {
    "table 1": """\
## Table 1: label noise, 5:5

1,000 rows of an r-of-30 threshold function over 100 Boolean variables. ± is the standard error
over our folds. A star marks a difference of more than two standard errors, where the paper's
number, too, has that of one draw of the flipped labels (0.007 at 5 %, 0.011 at 15 %): with a
share a of wrong labels in each class a perfect scorer has an AUC of about 1 - a.""",
    "table 2": """\
## Table 2: unequal classes

Noise 5 %. The share of wrong labels in the small class is much larger than 5 %: at 9:1 about a
third of the negatives are positives in truth.""",
    "table 3": """\
## Table 3: real data

Missing values are medians. Differences here are of encodings, folds and scaling, of which the
paper tells nothing; ± is the standard error over our folds alone.""",
    "table 4": """\
## Table 4: seconds

Processor seconds of a fit on four fifths of m rows at ν = 0.2 (RankBoost: 100 rounds), averaged
over five folds, beside the paper's seconds on its own machine of 16 cores. The gap is 5e-3. The
exact problem, which the paper gives up at 1,320 s, is now cheaper than its simplification, which
solves a problem for every tangent.""",
    "table 5": """\
## Table 5: weights that are not 0

On the whole tables at ν = 0.2 (where the classification SVM has no optimum there, at the largest ν
at which it has one). In brackets the number of features; stumps count by their feature.""",
    "figures": """\
## Figures 1 to 3

![Two lists of equal accuracy and different AUC](images/ranking_svm_1.png)

Figure 1: both lists have two rows on the wrong side of 0, but not the same AUC.

![The product margin as a function of ν⁺](images/ranking_svm_2.png)

Figure 2: γ̂(ν⁺) at ν = 0.2 on 400 artificial rows. The paper shows that it need not be convex; here
the iteration ends at {ended:.3f}, the best point of the grid is {best:.3f}.

![Tangents of the cap](images/ranking_svm_3.png)

Figure 3: the cap 1/ν⁺ and its tangents at the first three steps of section 6; γ̃ falls: {path}.""",
}

CLOSING = """\
## What we see
"""
