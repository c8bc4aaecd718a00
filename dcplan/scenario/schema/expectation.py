"""Expectations of a scenario: what ``dcplan test`` checks."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from dcplan.scenario.schema.base import Key, Part

DateLimit = Annotated[str, Field(pattern=r"^\d{4}-(Q[1-4]|(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01]))$")]
"""A date such as ``2027-09-01``, or a quarter such as ``2027-Q3``."""
LIMITS = ("min", "max", "equals", "change_max", "change_pct_max", "change_min", "change_pct_min")
"""Fields of which an expectation needs one."""


class Expectation(Part):
    """A pass/fail test of a metric, absolute or relative to a base (CI)."""

    id: Key
    """Name of the expectation, shown in every report."""
    metric: str
    """Key of the metric."""
    min: float | DateLimit | None = None
    """Minimum of the metric; of a finish, a date (2027-09-01) or a quarter (2027-Q3)."""
    max: float | DateLimit | None = None
    """Maximum of the metric; of a finish, a date or a quarter, up to its last day."""
    equals: float | DateLimit | None = None
    """Required value of the metric, within tol; of a finish, a date or a quarter."""
    tol: Annotated[float, Field(ge=0)] | None = None
    """Absolute tolerance of equals. Default: 0."""
    change_min: float | None = None
    """Minimum change from the base: answer minus base, in days for a finish."""
    change_max: float | None = None
    """Maximum change from the base: answer minus base, in days for a finish."""
    change_pct_min: float | None = None
    """Minimum change from the base in percent."""
    change_pct_max: float | None = None
    """Maximum change from the base in percent; a decrease is negative."""
    against: str | None = None
    """Base of the change: `base` (given by `dcplan test --base`, otherwise the variant of that
    name), a name in `scenarios:`, or `file`, the scenario without a variant."""
    when: str | None = None
    """Variant to which the expectation applies: a name in `scenarios:` or a pattern of names;
    `file` is the scenario without a variant."""
    severity: Literal["error", "warn"] = "error"
    """`error` fails the test, `warn` only reports."""
    owner: str | None = None
    """Person or team responsible for the metric."""
    note: str | None = None
    """Free text, shown in reports."""

    @model_validator(mode="before")
    @classmethod
    def _has_a_limit(cls, data: Any) -> Any:
        if isinstance(data, dict) and not set(LIMITS) & set(data):
            code = "expectation"
            raise PydanticCustomError(code, f"an expectation needs one of {', '.join(LIMITS)}")
        return data
