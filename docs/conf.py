"""How the documentation is built: without network, and with warnings as errors."""

import re
import sys
from pathlib import Path

import matplotlib as mpl

import toprank

sys.path.insert(0, str(Path(__file__).parent / "_ext"))
mpl.use("Agg")

project = "toprank"
author = "the toprank developers"
copyright = author  # noqa: A001 (Sphinx names it so)
version = release = toprank.__version__

extensions = [
    "mathml",
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = [
    "_build",
    "_templates",
    "gallery/**/*.ipynb",
    "gallery/**/*.py",
    "gallery/**/*.json",
]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
myst_dmath_double_inline = True
math_number_all = False

autosummary_generate = True
autosummary_imported_members = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_custom_sections = [("Attributes", "params_style")]  # like parameters, names as they are
highlight_language = "none"  # unmarked blocks are formulas and drawings

html_theme = "furo"
html_title = f"toprank {release}"
html_static_path = ["_static"]
html_css_files = ["toprank.css"]
html_js_files = ["toprank.js"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_copyright = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"__init__\.py",
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("toprank",),
    "reference_url": {"toprank": None},
    "abort_on_example_error": True,
    "matplotlib_animations": False,
    "remove_config_comments": True,
    "capture_repr": (),
    "min_reported_time": 60,
    "show_memory": False,
    "write_computation_times": False,  # its table would load scripts from elsewhere
    "show_signature": False,
    "download_all_examples": False,
    "within_subsection_order": "FileNameSortKey",
}

# scikit-learn writes these into every estimator, with references into its own manual.
ROUTING = re.compile(r"set_\w+_request|get_metadata_routing")


# Sphinx fixes the signature.
def skip_routing(app, what, name, obj, skip, options):  # noqa: ARG001
    """Leave scikit-learn's request setters out of the API pages."""
    return True if ROUTING.fullmatch(name) else None


def setup(app):
    app.connect("autodoc-skip-member", skip_routing)
