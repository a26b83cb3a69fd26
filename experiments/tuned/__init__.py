"""Parts of the comparison under equal tuning budgets."""
