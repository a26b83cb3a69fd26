"""Boosted oblivious trees as a scikit-learn estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from toprank.inputs import check_columns, check_number
from toprank.kernels.threads import threads_for
from toprank.objectives import ExponentialIRPush, ExponentialPush, LogLoss, Objective
from toprank.rankers.supervised import GradesMixin, PairsMixin, SupervisedRanker
from toprank.solvers.tree_boosting import BinnedColumns, Boosting, boost_trees
from toprank.solvers.tree_leaves import leaf_objective
from toprank.solvers.tree_table import TreeTable
from toprank.trees import Bins, ObliviousTrees

class TreeRanker(GradesMixin, PairsMixin, SupervisedRanker):
    """draft"""
    def __init__(self, objective="pnorm_push", *, p=2.0, n_trees=1000, depth=6, learning_rate="auto", reg_lambda=3.0, random_strength=1.0, bootstrap="bayesian", max_bins=255, n_jobs=None, random_state=None, lr_a=.0158):
        self.objective=objective; self.p=p; self.n_trees=n_trees; self.depth=depth; self.learning_rate=learning_rate
        self.reg_lambda=reg_lambda; self.random_strength=random_strength; self.bootstrap=bootstrap; self.max_bins=max_bins
        self.n_jobs=n_jobs; self.random_state=random_state; self.lr_a=lr_a
    def _check_parameters(self): pass
    def _family(self): pass
    def _check_table(self, X):
        check_columns(X)
        return validate_data(self, X, reset=True, dtype=[np.float64,np.float32], accept_sparse="csr", ensure_all_finite="allow-nan")
    def _fit(self, table, truth, given, **_):
        obj = self.objective
        if obj=="pnorm_push": obj=ExponentialPush(self.p)
        elif obj=="ir_push": obj=ExponentialIRPush()
        elif obj=="log_loss": obj=LogLoss()
        seed=int(check_random_state(self.random_state).randint(2**31-1))
        with threads_for(self.n_jobs) as threads:
            bins=Bins.of_table(table,self.max_bins,threads)
            codes=bins.by_row(table,threads)
            columns=BinnedColumns(bins.n_thresholds,bins.has_missing,np.zeros(len(bins.thresholds),np.int64))
            leaf=leaf_objective(obj,truth)
            lr=self.learning_rate
            if lr=="auto": lr=min(.5,self.lr_a*(truth.n_rows/200)**.25*(1000/self.n_trees)**.92)
            scores=np.full(truth.n_rows,leaf.start)
            pos=truth.positives if truth.is_labels else np.zeros(truth.n_rows,bool)
            rows=TreeTable(codes,columns,pos,truth.weights,scores,threads)
            trees=[]
            def mon(t): trees.append(t); return False
            boost_trees(rows,leaf,Boosting(self.n_trees,self.depth,lr,self.reg_lambda,self.random_strength,self.bootstrap=="bayesian",seed),threads,mon)
        splits=np.array([t.splits for t in trees])
        th=np.array([[bins.thresholds[c][l] for c,l,_ in t.splits] for t in trees])
        ml=(splits[:,:,2]!=256)|~bins.has_missing[splits[:,:,0]]
        self.trees_=ObliviousTrees(splits[:,:,0].astype(np.int32),th,ml,np.array([t.values for t in trees]),np.array([t.cover for t in trees]))
        self.start_=leaf.start; self.scores_=scores
        self.classes_=truth.classes
        return self
    def decision_function(self, X):
        check_is_fitted(self,"trees_")
        X=validate_data(self, X, reset=False, dtype=[np.float64,np.float32], accept_sparse="csr", ensure_all_finite="allow-nan")
        with threads_for(self.n_jobs) as threads:
            return self.trees_.scores(X,threads)+self.start_
