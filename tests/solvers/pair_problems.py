"""The paper's problems with every pair written out, for HiGHS: the reference on small tables."""

import highspy
import numpy as np
from scipy.optimize import linprog


def differences(X, positives):
    """(x_i - x_j)/2 of all pairs."""
    upper, lower = X[positives], X[~positives]
    return ((upper[:, None, :] - lower[None, :, :]) / 2).reshape(-1, X.shape[1])


def soft_margin_1(X, positives, nu):
    """OP 3 on (x, -x) with the constant hypothesis: the optimum."""
    Z = differences(X, positives)
    n_pairs, n_features = Z.shape
    both = np.hstack([Z, -Z])
    # variables: w⁺, w⁻, ρ, ξ;   ρ - w·z - ξ ≤ 0
    rows = np.hstack([-both, np.ones((n_pairs, 1)), -np.eye(n_pairs)])
    ball = np.append(np.ones(2 * n_features), np.zeros(1 + n_pairs))
    cost = np.concatenate([np.zeros(2 * n_features), [-1.0], np.full(n_pairs, 1 / (nu * n_pairs))])
    bounds = [(0, None)] * (2 * n_features) + [(None, None)] + [(0, None)] * n_pairs
    found = linprog(cost, np.vstack([rows, ball]), np.append(np.zeros(n_pairs), 1.0), bounds=bounds)
    return -found.fun


def simplex_margin_1(X, positives, nu):
    """OP 3 as printed, over the simplex and without the constant hypothesis: the optimum."""
    Z = differences(X, positives)
    n_pairs, n_features = Z.shape
    found = linprog(
        np.concatenate([np.zeros(n_features), [-1.0], np.full(n_pairs, 1 / (nu * n_pairs))]),
        np.hstack([-Z, np.ones((n_pairs, 1)), -np.eye(n_pairs)]),
        np.zeros(n_pairs),
        np.append(np.ones(n_features), np.zeros(1 + n_pairs))[None, :],
        [1.0],
        bounds=[(0, None)] * n_features + [(None, None)] + [(0, None)] * n_pairs,
    )
    return -found.fun


def hard_margin_1(X, positives):
    """OP 1: the largest smallest margin."""
    Z = differences(X, positives)
    n_pairs, n_features = Z.shape
    rows = np.hstack([-Z, Z, np.ones((n_pairs, 1))])
    ball = np.append(np.ones(2 * n_features), 0.0)
    cost = np.append(np.zeros(2 * n_features), -1.0)
    bounds = [(0, None)] * (2 * n_features) + [(None, None)]
    found = linprog(
        cost,
        np.vstack([rows, ball]),
        np.append(np.zeros(n_pairs), 1.0),
        bounds=bounds,
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    return -found.fun


def product_margin_1(X, positives, nu, nu_plus):
    """OP 9: the optimum of OPT_soft(ν⁺)."""
    n_rows, n_features = X.shape
    p, n = positives.sum(), (~positives).sum()
    signs = np.where(positives, 1.0, -1.0)[:, None]
    # variables: w⁺, w⁻, b, ρ, ξ
    rows = np.hstack([-signs * X, signs * X, -signs, np.ones((n_rows, 1)), -np.eye(n_rows)])
    ball = np.append(np.ones(2 * n_features), np.zeros(2 + n_rows))
    prices = np.where(positives, 1 / (2 * nu_plus * p), nu_plus / (2 * nu * n))
    cost = np.concatenate([np.zeros(2 * n_features + 1), [-1.0], prices])
    bounds = [(0, None)] * (2 * n_features) + [(None, None)] * 2 + [(0, None)] * n_rows
    found = linprog(cost, np.vstack([rows, ball]), np.append(np.zeros(n_rows), 1.0), bounds=bounds)
    return -found.fun


def soft_margin_2(X, positives, nu):
    """OP 11 by the quadratic solver of HiGHS: weights and optimum."""
    Z = differences(X, positives)
    n_pairs, n_features = Z.shape
    infinity = highspy.kHighsInf
    size = n_features + 1 + n_pairs  # w, ρ, ξ
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    low = np.concatenate([np.full(n_features + 1, -infinity), np.zeros(n_pairs)])
    solver.addVars(size, low, np.full(size, infinity))
    solver.changeColCost(n_features, -nu)
    for pair in range(n_pairs):
        solver.changeColCost(n_features + 1 + pair, 1.0 / n_pairs)
        columns = np.append(np.arange(n_features + 1), n_features + 1 + pair).astype(np.int32)
        values = np.concatenate([Z[pair], [-1.0, 1.0]])
        solver.addRow(0.0, infinity, columns.size, columns, values)
    hessian = highspy.HighsHessian()
    hessian.dim_ = size
    hessian.format_ = highspy.HessianFormat.kTriangular
    hessian.start_ = np.append(np.arange(n_features), np.full(size + 1 - n_features, n_features))
    hessian.index_ = np.arange(n_features)
    hessian.value_ = np.ones(n_features)
    solver.passHessian(hessian)
    solver.run()
    point = np.array(solver.getSolution().col_value)
    return point[:n_features], solver.getInfo().objective_function_value
