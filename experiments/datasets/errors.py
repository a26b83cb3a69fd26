"""What can go wrong between a folder of files and an array."""

__all__ = ["DamagedDatasetError", "DatasetNotFoundError"]


class DatasetNotFoundError(FileNotFoundError):
    """A file of a data set, or the folder that should hold it, is not there."""


class DamagedDatasetError(ValueError):
    """A file is there but cannot be read, or does not hold the values that are expected."""
