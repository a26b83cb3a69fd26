"""What the five papers state, which files belong to which paper, and why some cells are empty."""

from typing import NamedTuple

__all__ = ["PAPERS", "PLACES", "REASONS", "Paper"]


class Paper(NamedTuple):
    """A paper's name, and its numbered statements with what they say."""

    title: str
    statements: dict[str, str]


PAPERS = {
    "000": Paper(
        "Rudin (2009), The P-Norm Push",
        {
            "Equation 1": "line search of coordinate descent",
            "Equation 2": "the IR Push",
            "Theorem 1": "the price of a list brackets its top",
            "Theorem 2": "first generalization bound",
            "Theorem 3": "second generalization bound",
            "Theorem 4": "the minimum is unique in the pair weights",
            "Lemma 5": "close functions deviate alike",
            "Lemma 6": "the centre of a ball speaks for the ball",
            "Lemma 7": "two bounds on the distance of roots",
            "Theorem 8": "McDiarmid's inequality",
            "Lemma 9": "how often one function deviates",
            "Theorem 10": "Bregman projections (Della Pietra et al.)",
            "Lemma 11": "φ is strictly convex",
            "Lemma 12": "φ is Legendre",
            "Lemma 13": "conditions A1 to A5 hold",
            "Table 1": "objectives of three lists",
            "Table 2": "the same for steeper prices",
            "Table 3": "MAGIC",
            "Table 4": "ionosphere",
            "Table 5": "housing",
            "Figure 1": "contribution of each pair",
            "Figure 2": "the algorithm",
            "Figure 3": "discount factors",
            "Figure 4": "contribution of each pair, steeper",
            "Figure 5": "ROC curves, MAGIC",
            "Figure 6": "ROC curves, ionosphere",
            "Figure 7": "ROC curves, housing",
            "Figure 8": "Lemma 7 as a picture",
        },
    ),
    "001": Paper(
        "Rudin and Schapire (2009), RankBoost, AdaBoost and smooth margins",
        {
            "Definition 1": "sloppy covers",
            "Theorem 2": "margin bound for any class",
            "Lemma 3": "sloppy covers of convex combinations",
            "Corollary 4": "margin bound for weak rankers",
            "Corollary 5": "margin bound in the largest difference",
            "Theorem 6": "RankBoost need not maximise the margin",
            "Theorem 7": "progress of the smooth margin",
            "Theorem 8": "smooth margin ranking converges",
            "Lemma 9": "steps do not grow too fast",
            "Theorem 10": "one objective minimises the other",
            "Corollary 11": "AdaBoost minimises RankBoost's",
            "Theorem 12": "the same ROC AUC",
            "Corollary 13": "the intercept",
            "Theorem 14": "the same misclassification",
            "Lemma 15": "part of the proof of Theorem 2",
            "Lemma 16": "part of the proof of Theorem 2",
            "Lemma 17": "part of the proof of Theorem 2",
            "Theorem 18": "McDiarmid's inequality",
            "Lemma 19": "part of the proof of Theorem 2",
            "Lemma 20": "more than half of the gap is gained",
            "Lemma 21": "part of the proof of Lemma 20",
            "Lemma 22": "part of the proof of Lemma 20",
            "Lemma 23": "part of the proof of Lemma 20",
            "Lemma 24": "part of the proof of Lemma 20",
            "Equation 2": "ε of Corollary 4",
            "Equation 3": "steepest weak ranker",
            "Equation 4": "RankBoost's step",
            "Equation 5": "largest decrease",
            "Equation 6": "smooth margin below margin below best",
            "Equation 10": "exact ascent",
            "Equation 11": "the condition of the step",
            "Equation 12": "the step of smooth margin ranking",
            "Equation 14": "the loss is a product",
            "Figure 1": "coordinate descent RankBoost",
            "Figure 2": "surface of B",
        },
    ),
    "002": Paper(
        "Jain, Natarajan and Tewari (2015), Predtron",
        {
            "Algorithm 1": "Predtron",
            "Algorithm 3": "Predtron with a link",
            "Equation 2": "the surrogate",
            "Theorem 1": "loss bound",
            "Corollary 2": "weighted loss",
            "Lemma 3": "the NDCG surrogate is an assignment",
            "Lemma 4": "margins of rankings",
            "Corollary 5": "subset ranking",
            "Corollary 6": "subset ranking, ℓ₁ margin",
            "Corollary 7": "multilabel ranking",
            "Corollary 8": "multilabel ranking, group margin",
            "Figure 1": "three simulations",
        },
    ),
    "003": Paper(
        "Suehiro, Hatano and Takimoto (2018), Efficient 1-norm Ranking SVM",
        {
            "Theorem 1": "generalization bound",
            "OP 1": "hard margin, primal",
            "OP 2": "hard margin, dual",
            "OP 3": "soft margin, primal",
            "OP 4": "soft margin, dual",
            "OP 5": "hard margin on rows, dual",
            "OP 6": "hard margin on rows, primal",
            "OP 7": "the product form",
            "OP 8": "product form at ν⁺, dual",
            "OP 9": "product form at ν⁺, primal",
            "OP 10": "product form with a tangent",
            "OP 11": "2-norm, primal",
            "OP 12": "2-norm, dual",
            "OP 14": "2-norm product form at ν⁺",
            "Equation 1": "promise of the exact form",
            "Theorem 2": "OP 1 and OP 6 are equal",
            "Theorem 3": "promise of the product form",
            "Corollary 4": "the same at ν⁺ = √ν",
            "Theorem 5": "promise of the 2-norm product form",
            "Corollary 6": "the same at ν⁺ = √ν",
            "Table 1": "label noise",
            "Table 2": "unequal classes",
            "Table 3": "real data",
            "Table 4": "seconds",
            "Table 5": "sparsity",
            "Figure 1": "AUC and accuracy differ",
            "Figure 2": "γ̂ is not convex in ν⁺",
            "Figure 3": "tangents",
        },
    ),
    "004": Paper(
        "Kar, Narasimhan and Jain (2015), Precision at the top",
        {
            "Claim 1": "ramp bounds prec@k",
            "Definition 2": "weak (k, γ)-margin",
            "Claim 3": "ramp vanishes under the weak margin",
            "Definition 4": "strong γ-margin",
            "Definition 5": "(k, γ)-margin",
            "Claim 6": "avg vanishes under the (k, γ)-margin",
            "Algorithm 1": "Perceptron@k-avg",
            "Algorithm 2": "Perceptron@k-max",
            "Algorithm 3": "SGD@k-avg",
            "Algorithm 4": "sub-gradient of avg",
            "Theorem 7": "mistakes of Perceptron@k-avg",
            "Corollary 8": "the same under a margin",
            "Theorem 9": "mistakes of Perceptron@k-max",
            "Corollary 10": "the same under a margin",
            "Definition 11": "uniform convergence",
            "Theorem 12": "prec@κ converges uniformly",
            "Theorem 13": "online to batch",
            "Corollary 14": "online to batch for the perceptrons",
            "Theorem 15": "SGD@k-avg",
            "Figure 1": "hierarchy of surrogates and margins",
            "Figure 2": "five data sets",
            "Figure 3": "κ and batch length",
        },
    ),
}

PLACES = {
    "000": {
        "code": [
            "src/toprank/objectives/*.py", "src/toprank/guarantees/push_promises.py",
            "src/toprank/solvers/coordinate.py", "src/toprank/rankers/push.py",
            "experiments/push/*.py", "experiments/p_norm_push.py",
        ],
        "test": [
            "tests/guarantees/test_push*.py", "tests/experiments/push/*.py",
            "tests/objectives/*.py", "tests/rankers/test_push.py",
            "tests/experiments/test_p_norm_push.py",
        ],
        "page": ["docs/theory/p_norm_push.md", "docs/experiments/p_norm_push.md"],
    },
    "001": {
        "code": [
            "src/toprank/kernels/steps.py", "src/toprank/solvers/boosting*.py",
            "src/toprank/rankers/boosting.py", "src/toprank/rankers/rankboost.py",
            "src/toprank/guarantees/ranking_margins.py", "experiments/boosting/*.py",
        ],
        "test": [
            "tests/rankers/test_boosting*.py", "tests/rankers/test_rankboost.py",
            "tests/kernels/test_steps.py", "tests/solvers/test_boosting*.py",
            "tests/experiments/boosting/*.py", "tests/guarantees/test_ranking_margins.py",
        ],
        "page": ["docs/theory/boosting.md", "docs/experiments/rankboost.md"],
    },
    "002": {
        "code": [
            "src/toprank/predtron/*.py", "src/toprank/guarantees/predtron.py",
            "experiments/online/*.py", "experiments/predtron.py",
        ],
        "test": [
            "tests/predtron/*.py", "tests/guarantees/test_predtron.py",
            "tests/experiments/online/*.py",
        ],
        "page": ["docs/theory/predtron.md", "docs/experiments/predtron.md"],
    },
    "003": {
        "code": [
            "src/toprank/rankers/rank_svm*.py", "src/toprank/solvers/margin_ball.py",
            "src/toprank/solvers/nearest_point.py", "src/toprank/guarantees/svm.py",
            "src/toprank/objectives/margin.py", "experiments/svm/*.py",
            "experiments/ranking_svm.py",
        ],
        "test": [
            "tests/rankers/test_rank_svm*.py", "tests/solvers/test_ranking_svm_solvers.py",
            "tests/guarantees/test_svm.py", "tests/experiments/test_ranking_svm.py",
        ],
        "page": ["docs/theory/ranking_svm.md", "docs/experiments/ranking_svm.md"],
    },
    "004": {
        "code": [
            "src/toprank/objectives/precision.py", "src/toprank/rankers/precision_at_k.py",
            "src/toprank/solvers/mini_batch.py", "src/toprank/guarantees/precision.py",
            "src/toprank/kernels/mini_batches.py", "src/toprank/kernels/top*.py",
            "experiments/top/*.py",
            "experiments/precision_*.py",
        ],
        "test": [
            "tests/objectives/test_precision*.py", "tests/rankers/test_precision_at_k.py",
            "tests/solvers/test_mini_batch.py", "tests/guarantees/test_precision.py",
            "tests/experiments/top/*.py",
        ],
        "page": ["docs/theory/precision_at_k.md", "docs/experiments/precision_*.md"],
    },
}  # fmt: skip

PROOF = "part of a proof: nothing to compute"
KNOWN = "a theorem of others that a proof uses"
PICTURE = "a picture: drawn anew on the page"
NUMBERS = "numbers: computed anew on the page"
TESTED = "a statement about the code named beside it: see the test"
NO_PAGE = "an inequality of the proof of the theorem beside it: see the test"
LISTED = "the list behind the picture is missing in the text"


def everywhere(names: str, reason: str) -> dict[str, dict[str, str]]:
    """One reason for all three cells of some statements."""
    return {name: dict.fromkeys(("code", "test", "page"), reason) for name in names.split(", ")}


def of_column(names: str, column: str, reason: str) -> dict[str, dict[str, str]]:
    """One reason for one cell of some statements."""
    return {name: {column: reason} for name in names.split(", ")}


REASONS = {
    "000": everywhere("Lemma 5, Lemma 6, Lemma 9", NO_PAGE)
    | everywhere("Theorem 8, Theorem 10", KNOWN)
    | everywhere("Lemma 11, Lemma 12, Lemma 13", PROOF)
    | of_column("Theorem 4", "code", TESTED)
    | of_column("Equation 2", "test", "tested as the objective `ir_push` with all others")
    | of_column("Figure 2", "test", "both solvers reach one minimum: see Theorem 4")
    | everywhere("Figure 1, Figure 4", f"{LISTED}: drawn for a list of our own")
    | of_column("Figure 3, Figure 5, Figure 6, Figure 7, Figure 8", "test", PICTURE),
    "001": everywhere("Lemma 15, Lemma 16, Lemma 17, Lemma 19", PROOF)
    | everywhere("Lemma 21, Lemma 22, Lemma 23, Lemma 24, Lemma 9", PROOF)
    | everywhere("Theorem 18", KNOWN)
    | everywhere("Definition 1", "a notion of the bounds: see Lemma 3")
    | of_column("Corollary 5", "test", "one formula: see its docstring's example")
    | of_column("Theorem 8, Theorem 12, Theorem 14", "code", TESTED)
    | of_column("Figure 2", "test", PICTURE),
    "002": of_column("Figure 1", "test", PICTURE),
    "003": of_column("Theorem 2", "code", TESTED)
    | of_column("OP 2, OP 5, OP 12", "page", "the dual of the problem beside it: gives the gap")
    | of_column("OP 7", "code", "solved as OP 10, tangent by tangent")
    | of_column("Table 1, Table 2, Table 3, Table 5", "test", NUMBERS)
    | of_column("Table 4", "test", "seconds: measured anew on the page")
    | of_column("Figure 1, Figure 2, Figure 3", "test", PICTURE),
    "004": of_column("Claim 1", "code", TESTED)
    | of_column("Definition 2, Definition 4, Definition 5", "page", "in words on the page")
    | of_column("Claim 3, Claim 6", "page", "in words on the page")
    | of_column("Algorithm 4", "page", "in closed form on the page")
    | everywhere("Definition 11", "a notion of Theorem 12")
    | of_column("Figure 2, Figure 3", "test", PICTURE),
}
