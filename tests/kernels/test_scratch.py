"""Memory is used again only when nobody can see it."""

import copy
import pickle

import numpy as np

from toprank.kernels.scratch import FEW_BYTES, Scratch

MANY = FEW_BYTES  # of one byte each, just enough to be kept


def test_memory_is_used_again_once_no_array_looks_into_it():
    kept = Scratch()
    first = kept.empty(MANY, np.uint8)
    where, part = first.ctypes.data, first[5:].reshape(-1, 1)
    del first
    other = kept.empty(MANY, np.uint8)
    assert other.ctypes.data != where
    part[:] = 7
    other[:] = 8
    assert (part == 7).all()
    del part
    assert kept.empty(MANY, np.uint8).ctypes.data == where


def test_arrays_have_the_shape_and_type_asked_for():
    kept = Scratch()
    for shape, dtype in [(3, np.float64), ((2, MANY), np.float32), (0, bool), (MANY, np.uint32)]:
        array = kept.empty(shape, dtype)
        assert array.shape == np.empty(shape).shape
        assert array.dtype == dtype
        assert array.flags.c_contiguous
        assert array.flags.writeable
        assert kept.empty_like(array).shape == array.shape


def test_lengths_that_change_a_little_find_memory():
    kept = Scratch()
    where = kept.empty(MANY + 1, np.uint8).ctypes.data
    assert kept.empty(MANY + 100, np.uint8).ctypes.data == where


def test_no_more_than_the_most_is_kept():
    kept = Scratch(2 * FEW_BYTES)
    several = [kept.empty(MANY, np.uint8) for _ in range(5)]
    del several
    assert kept.n_bytes == 2 * FEW_BYTES
    again = [kept.empty(MANY, np.uint8) for _ in range(5)]
    assert len({array.ctypes.data for array in again}) == 5
    assert kept.n_bytes == 0


def test_an_array_outlives_its_scratch():
    array = Scratch().empty(MANY, np.uint8)
    array[:] = 3
    assert (array == 3).all()


def test_copies_start_with_no_memory():
    kept = Scratch()
    kept.empty(MANY, np.uint8)
    assert kept.n_bytes == FEW_BYTES
    for twin in (copy.deepcopy(kept), pickle.loads(pickle.dumps(kept))):  # noqa: S301
        assert twin.n_bytes == 0
