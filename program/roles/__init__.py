"""One DSPy module a role; each file declares its roles by their cards.

The files are found, so that a role is there as soon as its file is.
"""

from importlib import import_module
from pkgutil import iter_modules

for _found in iter_modules(__path__):
    import_module(f"{__name__}.{_found.name}")
