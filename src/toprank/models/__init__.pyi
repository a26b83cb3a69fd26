from .file import load as load
from .file import save as save
from .formula import Formula as Formula
from .formula import formula_of as formula_of
from .model import Model as Model
from .python import to_python as to_python
from .sql import to_sql as to_sql
