"""Parts of the experiments on RankBoost, AdaBoost and smooth margins."""
