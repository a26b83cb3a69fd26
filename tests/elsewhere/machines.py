"""Other machines, as settings of this one, and a pytest plugin that checks them.

A run of the tests that loads this plugin and names a machine in ``TOPRANK_ELSEWHERE`` begins with
a check, in each of its processes, that every setting of that machine took effect.
"""

import codecs
import locale
import os
import platform
import secrets
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

X86 = platform.machine() in {"x86_64", "AMD64"}
NO_HOME = os.path.join(os.devnull, "home")  # noqa: PTH118 (no folder can be made below a file)


class Setting(NamedTuple):
    """Variables of the environment, and a look at whether they took effect."""

    variables: dict[str, str]
    took_effect: Callable[[], bool]


# Arithmetic -------------------------------------------------------------------------------------


def numpy_loops(older_than=""):
    """Loops of numpy for processors before a generation, or for the oldest that numpy knows.

    The names are numpy's own: it ignores those that it does not know.
    """

    def unwanted():
        try:
            from numpy._core import _multiarray_umath as core
        except ImportError:  # numpy 1
            from numpy.core import _multiarray_umath as core
        names = core.__cpu_dispatch__
        later = [name for name in names if name.startswith(older_than)] if older_than else names
        return [name for name in later if core.__cpu_features__[name]]

    return Setting({"NPY_DISABLE_CPU_FEATURES": " ".join(unwanted())}, lambda: not unwanted())


def openblas(architecture, threads):
    """Linear algebra for another processor, with a number of threads."""
    variables = {"OPENBLAS_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
    if X86:
        variables["OPENBLAS_CORETYPE"] = architecture

    def took_effect():
        import scipy.linalg  # noqa: F401 (it brings an OpenBLAS of its own)
        from threadpoolctl import threadpool_info

        return all(
            library["num_threads"] == min(threads, os.cpu_count())
            and (library["architecture"] == architecture or not X86)
            for library in threadpool_info()
            if library["internal_api"] == "openblas"
        )

    return Setting(variables, took_effect)


def compiled_for_any_processor():
    """Compiled loops that use no instruction of this processor alone."""

    def took_effect():
        from numba.core import config

        return (config.CPU_NAME, config.CPU_FEATURES) == ("generic", "")

    return Setting({"NUMBA_CPU_NAME": "generic"}, took_effect)


# Surroundings -----------------------------------------------------------------------------------


def hash_seed():
    """An order of sets that is another in each run, and is said, so that it can be had again."""

    def took_effect():
        return (
            sys.flags.hash_randomization == 1 and os.environ.get("PYTHONHASHSEED", "").isdecimal()
        )

    return Setting({"PYTHONHASHSEED": str(1 + secrets.randbelow(2**32 - 1))}, took_effect)


def ascii_locale():
    """Files and streams are ASCII unless a program says otherwise."""
    return Setting(
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        lambda: codecs.lookup(locale.getencoding()).name == "ascii",
    )


def far_time_zone():
    """Clocks fourteen hours before those of Greenwich."""
    return Setting({"TZ": "FAR-14"}, lambda: time.timezone == -14 * 3600)


def no_home():
    """A home, and folders for caches, that cannot be made."""
    names = ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")

    def took_effect():
        try:
            Path.home().mkdir(parents=True, exist_ok=True)
        except OSError:
            return True
        return False

    return Setting(dict.fromkeys(names, NO_HOME), took_effect)


def narrow_terminal():
    """Forty columns without colours."""
    return Setting(
        {"TERM": "dumb", "NO_COLOR": "1", "COLUMNS": "40"},
        lambda: shutil.get_terminal_size().columns == 40,
    )


def ignored_interrupts():
    """Interrupts are ignored, as in the background of a shell; the starting process does it."""
    return Setting({}, lambda: signal.getsignal(signal.SIGINT) is signal.SIG_IGN)


MACHINES = {
    "old": lambda: {
        "numpy": numpy_loops(),
        "OpenBLAS": openblas("Nehalem", threads=1),
        "numba": compiled_for_any_processor(),
        "hash seed": hash_seed(),
        "locale": ascii_locale(),
        "time zone": far_time_zone(),
        "home": no_home(),
        "terminal": narrow_terminal(),
        "interrupts": ignored_interrupts(),
    },
    "without-avx512": lambda: {
        "numpy": numpy_loops(older_than=("AVX512", "X86_V4")),
        "OpenBLAS": openblas("Haswell", threads=2),
        "hash seed": hash_seed(),
    },
}


def pytest_sessionstart():
    """Refuse to begin where a setting did nothing."""
    machine = os.environ["TOPRANK_ELSEWHERE"]
    missing = [name for name, each in MACHINES[machine]().items() if not each.took_effect()]
    if missing:
        raise pytest.UsageError(f"not as on the machine {machine!r}: {', '.join(missing)}")
