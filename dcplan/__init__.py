"""dcplan: plan AI data centers: what to buy, where and when, how long training takes, own or rent.

``import dcplan; dcplan.plan("x.yaml")`` answers like the command line; heavy imports wait for the
first call.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dcplan.answers.check.answer import check as check
    from dcplan.answers.serve.answer import serve as serve
    from dcplan.answers.train.answer import train as train
    from dcplan.answers.validation.answer import validate as validate
    from dcplan.report.compared import tco as tco
    from dcplan.report.planned import plan as plan

__version__ = "0.1.0"
_ANSWERS = {
    "plan": "dcplan.report.planned",
    "tco": "dcplan.report.compared",
    "train": "dcplan.answers.train.answer",
    "serve": "dcplan.answers.serve.answer",
    "check": "dcplan.answers.check.answer",
    "validate": "dcplan.answers.validation.answer",
}
__all__ = ["__version__", "check", "plan", "serve", "tco", "train", "validate"]


def __getattr__(name: str) -> Any:
    """Load an answer on first use (PEP 562)."""
    if name in _ANSWERS:
        return getattr(import_module(_ANSWERS[name]), name)
    msg = f"module 'dcplan' has no attribute {name!r}"
    raise AttributeError(msg)
