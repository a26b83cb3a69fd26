"""On real lists and label sets the learners beat what needs no learning."""

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from experiments.datasets import DatasetNotFoundError, load_mq2008, load_mulan, load_ohsumed
from toprank.metrics import ndcg
from toprank.predtron import NDCGLoss, PredtronLabelRanker, PredtronSubsetRanker


def parts(load, *names, **options):
    try:
        return [load(subset=name, **options) for name in names]
    except DatasetNotFoundError as missing:
        pytest.skip(f"not in the data home: {missing}")


@pytest.mark.parametrize(("load", "at_least"), [(load_ohsumed, 0.33), (load_mq2008, 0.55)])
def test_lists_of_letor(load, at_least):
    train, test = parts(load, "train", "test", fold=1)
    model = PredtronSubsetRanker(random_state=0).fit(train.X, train.y, groups=train.groups)
    reached = ndcg(test.y, model.decision_function(test.X), groups=test.groups, k=10)
    rng = np.random.default_rng(0)
    chance = ndcg(test.y, rng.random(len(test.y)), groups=test.groups, k=10)
    assert reached > max(at_least, chance + 0.1)


@pytest.mark.parametrize("name", ["emotions", "scene", "yeast"])
def test_label_rankings_of_mulan(name):
    train, test = parts(lambda subset: load_mulan(name, subset=subset), "train", "test")
    scaler = StandardScaler().fit(train.X)
    model = PredtronLabelRanker(random_state=0).fit(scaler.transform(train.X), train.y)
    reached = model.score(scaler.transform(test.X), test.y)
    frequent = np.argsort(np.argsort(-train.y.mean(axis=0), kind="stable")) + 1
    assert reached > np.mean([1 - NDCGLoss()(frequent, row) for row in test.y])
