"""Formulas as text over named numbers: ``{nodes} * [systems.dgx-h200.price_usd]``, read without
``eval``.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping

REFERENCE = re.compile(r"\[([^\]]+)\]")
"""An input by its key."""
OWN = re.compile(r"\{([a-z_]+)\}")
"""Another fact of the same row."""
OPERATIONS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


def evaluate(text: str, inputs: Mapping[str, float], own: Mapping[str, float]) -> float:
    """Value of a formula of ``+ - * / **``, ``MAX`` and references.

    Raises
    ------
    KeyError
        When a reference is not known.
    ValueError
        When the text is anything else.

    Examples
    --------
    >>> evaluate("{n} * [price] * (1 + [rise]) ** 2 + MAX({n}, 9)", {"price": 10.0, "rise": 1.0}, {"n": 2.0})
    89.0
    """
    plain = REFERENCE.sub(lambda m: repr(float(inputs[m[1]])), text)
    plain = OWN.sub(lambda m: repr(float(own[m[1]])), plain)
    return _value(ast.parse(plain, mode="eval").body)


def _value(node: ast.expr) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value)
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        return OPERATIONS[type(node.op)](_value(node.left), _value(node.right))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "MAX":
        return max(_value(x) for x in node.args)
    msg = f"not a formula: {ast.unparse(node)}"
    raise ValueError(msg)
