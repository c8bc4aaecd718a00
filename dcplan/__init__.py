"""dcplan: plan AI data centers: what to buy, where and when, how long training takes, own or rent.

``import dcplan; dcplan.plan("x.yaml")`` answers like the command line; heavy imports wait for the first call.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dcplan.answers.check import check as check
    from dcplan.answers.plan import plan as plan
    from dcplan.answers.tco import tco as tco
    from dcplan.answers.train import train as train
    from dcplan.answers.validate import validate as validate

__version__ = "0.1.0"
_ANSWERS = ("plan", "tco", "train", "check", "validate")
__all__ = ["__version__", "check", "plan", "tco", "train", "validate"]


def __getattr__(name: str) -> Any:
    """Load an answer on first use (PEP 562)."""
    if name in _ANSWERS:
        return getattr(import_module(f"dcplan.answers.{name}"), name)
    msg = f"module 'dcplan' has no attribute {name!r}"
    raise AttributeError(msg)
