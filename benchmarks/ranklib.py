"""RankBoost beside RankLib's, on graded lists.

The environment variable RANKLIB holds the Java class path of RankLib and of Commons Math 3; where
it is unset the row says so. Java's start and the reading of the file are not counted: what is timed
is the difference between a run of many rounds and a run of one. Ours is a whole fit.
"""

import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.measure import TURNS, absent, compared, seconds
from toprank import RankBoost
from toprank.metrics import ndcg

LISTS, LENGTH, FEATURES, ROUNDS = 500, 20, 46, 50
TASK = f"{ROUNDS} rounds of stumps, {LISTS} lists of {LENGTH} × {FEATURES}, 3 grades"
PEER = "RankLib's RankBoost"


def lists(seed):
    rng = np.random.default_rng(seed)
    X = rng.random((LISTS * LENGTH, FEATURES)).round(4)
    worth = X[:, :5].sum(axis=1) + rng.normal(scale=0.3, size=len(X))
    return X, np.digitize(worth, [2.8, 3.4]), np.repeat(np.arange(LISTS), LENGTH)


def write(path, X, y, groups):
    with path.open("w", encoding="ascii") as file:
        for row, grade, group in zip(X, y, groups, strict=True):
            values = " ".join(f"{at}:{value}" for at, value in enumerate(row, start=1))
            file.write(f"{grade} qid:{group + 1} {values}\n")


def theirs(folder, rounds):
    """Scores of new rows after a training of this many rounds."""
    java = ["java", "-cp", os.environ["RANKLIB"], "ciir.umass.edu.eval.Evaluator"]
    model, scores = folder / "model.txt", folder / "scores.txt"
    train = ["-train", folder / "train.txt", "-ranker", "2", "-round", str(rounds), "-tc", "255"]
    train += ["-metric2t", "NDCG@10", "-save", model]
    subprocess.run([*java, *train], check=True, capture_output=True)  # noqa: S603
    if rounds == ROUNDS and not scores.exists():
        rank = ["-load", model, "-rank", folder / "new.txt", "-score", scores]
        subprocess.run([*java, *rank], check=True, capture_output=True)  # noqa: S603
    return scores


def results():
    if "RANKLIB" not in os.environ:
        yield absent("training", TASK, "RankBoost", PEER, "not here: RANKLIB is not set")
        return
    X, y, groups = lists(0)
    X_new, y_new, groups_new = lists(1)
    model = RankBoost(max_iter=ROUNDS, tol=None)
    mine, peer = [], []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write(folder / "train.txt", X, y, groups)
        write(folder / "new.txt", X_new, y_new, groups_new)
        model.fit_grades(X, y, groups=groups)
        scores = [float(line.split()[-1]) for line in theirs(folder, ROUNDS).open()]
        for _ in range(TURNS):
            mine.append(seconds(lambda: model.fit_grades(X, y, groups=groups)))
            many = seconds(lambda: theirs(folder, ROUNDS + 1))
            peer.append(many - seconds(lambda: theirs(folder, 1)))
    found = [ndcg(y_new, s, groups=groups_new) for s in (model.decision_function(X_new), scores)]
    note = "NDCG on new lists: ours {:.4f}, theirs {:.4f}".format(*found)
    yield compared("training", TASK, ("RankBoost", mine), (PEER, peer), "s", note)
