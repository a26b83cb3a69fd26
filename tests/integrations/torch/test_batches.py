"""Batches with a fixed number of positives, and networks that learn from them."""

import pytest
import torch
from torch.utils.data import DataLoader, TensorDataset

from toprank.integrations.torch import ClassAwareBatchSampler, PushLoss
from toprank.metrics import roc_auc

Y = torch.arange(1000) % 50 == 0


def test_an_epoch_visits_every_negative_once_and_positives_alike():
    sampler = ClassAwareBatchSampler(Y, batch_size=100, positives=2)
    batches = list(sampler)
    assert len(batches) == len(sampler) == 10
    assert all(int(Y[batch].sum()) == 2 for batch in batches)
    rows = torch.tensor(batches).flatten()
    counts = torch.bincount(rows, minlength=1000)
    assert (counts[~Y] == 1).all()
    assert (counts[Y] == 1).all()


def test_epochs_differ_and_seeds_repeat():
    first, twin = (ClassAwareBatchSampler(Y, batch_size=50, seed=3) for _ in range(2))
    epoch = list(first)
    assert epoch == list(twin)
    assert epoch != list(first)


def test_a_share_of_positives_is_rounded_and_at_least_one():
    assert ClassAwareBatchSampler(Y, batch_size=40, positives=0.25).n_positives == 10
    assert ClassAwareBatchSampler(Y, batch_size=40, positives=0.001).n_positives == 1


def test_bad_batches_are_refused():
    with pytest.raises(ValueError, match="y has 0 positive and 5 negative rows"):
        ClassAwareBatchSampler(torch.zeros(5))
    with pytest.raises(ValueError, match="leaves 0 places for negatives"):
        ClassAwareBatchSampler(Y, batch_size=10, positives=10)
    with pytest.raises(ValueError, match="of which there are 980"):
        ClassAwareBatchSampler(Y, batch_size=2000)


def test_a_small_network_learns_from_its_batches():
    random = torch.Generator().manual_seed(0)
    X = torch.randn(2000, 5, generator=random)
    y = (X[:, 0] * X[:, 1] + 0.5 * torch.randn(2000, generator=random) > 1.5).long()
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(5, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
    steps = torch.optim.Adam(net.parameters(), 1e-2)
    batches = ClassAwareBatchSampler(y, batch_size=200)
    loader = DataLoader(TensorDataset(X, y), batch_sampler=batches)
    loss = PushLoss(p=4)
    for _ in range(10):
        for rows, labels in loader:
            steps.zero_grad()
            loss(net(rows), labels).backward()
            steps.step()
    with torch.no_grad():
        assert roc_auc(y.numpy(), net(X)[:, 0].numpy()) > 0.9
