"""dcplan: plan AI data centers: what to buy, where and when, how long training takes, own or rent.

``import dcplan; dcplan.plan("x.yaml")`` answers like the command line; heavy imports wait for the
first call.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dcplan.answers.check.answer import check as check
    from dcplan.answers.demand.answer import demand as demand
    from dcplan.answers.explain.answer import explain as explain
    from dcplan.answers.fabric.answer import fabric as fabric
    from dcplan.answers.facility.answer import facility as facility
    from dcplan.answers.serve.answer import serve as serve
    from dcplan.answers.train.answer import train as train
    from dcplan.answers.validation.answer import validate as validate
    from dcplan.api.inputs import catalog as catalog
    from dcplan.api.inputs import load as load
    from dcplan.api.plan import plan as plan
    from dcplan.api.results import diff as diff
    from dcplan.api.results import export as export
    from dcplan.api.results import read as read
    from dcplan.api.studies import frontier as frontier
    from dcplan.api.studies import sweep as sweep
    from dcplan.api.tco import tco as tco
    from dcplan.errors import AuditError as AuditError
    from dcplan.errors import InputError as InputError
    from dcplan.result import AbsentError as AbsentError
    from dcplan.result import NoPlanError as NoPlanError
    from dcplan.result import Result as Result

__version__ = "0.1.0"
FUNCTIONS = {
    "load": "dcplan.api.inputs",
    "check": "dcplan.answers.check.answer",
    "plan": "dcplan.api.plan",
    "explain": "dcplan.answers.explain.answer",
    "sweep": "dcplan.api.studies",
    "frontier": "dcplan.api.studies",
    "train": "dcplan.answers.train.answer",
    "serve": "dcplan.answers.serve.answer",
    "demand": "dcplan.answers.demand.answer",
    "tco": "dcplan.api.tco",
    "fabric": "dcplan.answers.fabric.answer",
    "facility": "dcplan.answers.facility.answer",
    "validate": "dcplan.answers.validation.answer",
    "diff": "dcplan.api.results",
    "export": "dcplan.api.results",
    "read": "dcplan.api.results",
    "catalog": "dcplan.api.inputs",
}
"""Every function of the Python interface, and its module."""
TYPES = {
    "Result": "dcplan.result",
    "InputError": "dcplan.errors",
    "NoPlanError": "dcplan.result",
    "AbsentError": "dcplan.result",
    "AuditError": "dcplan.errors",
}
"""The answer of every function, and the errors that they raise."""
__all__ = ["__version__", *FUNCTIONS, *TYPES]  # noqa: PLE0604 - the names are texts


class _Interface(ModuleType):
    """The package itself; a room such as ``dcplan.fabric`` does not hide the function of its name.

    The import system sets every room as an attribute of this package. ``from dcplan.fabric.x
    import y`` does not need that attribute.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in FUNCTIONS and isinstance(value, ModuleType)):
            super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        """Load a function or a type on first use."""
        module = FUNCTIONS.get(name) or TYPES.get(name)
        if module is None:
            msg = f"module 'dcplan' has no attribute {name!r}"
            raise AttributeError(msg)
        found = getattr(import_module(module), name)
        setattr(self, name, found)
        return found

    def __dir__(self) -> list[str]:
        """Return every function and type of the interface, loaded or not."""
        return sorted({*__all__, *(name for name in vars(self) if name.startswith("__"))})


sys.modules[__name__].__class__ = _Interface
