"""The tables and models of the tests of the command line."""

from tests.app.conftest import data, deals, model

__all__ = ["data", "deals", "model"]
