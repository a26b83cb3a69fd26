from .formula import Formula as Formula
from .formula import formula_of as formula_of
from .python import to_python as to_python
from .sql import to_sql as to_sql
