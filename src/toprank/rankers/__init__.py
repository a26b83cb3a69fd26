"""The public estimators: check, choose an objective and a solver, keep what was learned."""

from toprank.rankers.base import BaseRanker
from toprank.rankers.precision_at_k import PrecisionAtKRanker
from toprank.rankers.push import IRPush, PNormPush
from toprank.rankers.rankboost import RankBoost

__all__ = ["BaseRanker", "IRPush", "PNormPush", "PrecisionAtKRanker", "RankBoost"]
