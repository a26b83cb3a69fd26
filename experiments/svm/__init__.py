"""Parts of the ranking SVM experiment: data, comparisons, pictures, printed tables."""
