"""Studies from Python: sweeps and frontiers, with the engine that runs their solves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from dcplan.engine.names import EngineName
from dcplan.engine.request import Workers
from dcplan.errors import InputError, Place, Problem
from dcplan.result import Result
from dcplan.scenario.ref import set_text
from dcplan.specs.request import Flag
from dcplan.specs.verb import verb
from dcplan.study.frontier import run as frontiers
from dcplan.study.frontier.request import FrontierRequest
from dcplan.study.frontier.steps import LINE
from dcplan.study.lines import Runner
from dcplan.study.store import Memory, Store, home
from dcplan.study.sweep import run as sweeps
from dcplan.study.sweep.request import SweepRequest


def axis_text(key: str, values: Any) -> str:
    """Return the text of one axis of a sweep, as ``--set`` takes it.

    Parameters
    ----------
    key : str
        Dotted key of an input.
    values : sequence or str
        The values of the axis, or a form such as ``"range(10, 30, 5)"``.

    Raises
    ------
    InputError
        DC050 when there are no values.

    Examples
    --------
    >>> axis_text("sites.a.power_mw", [10, 20]), axis_text("x", "range(1, 3)")
    ('sites.a.power_mw=choice(10,20)', 'x=range(1, 3)')
    """
    if isinstance(values, str):
        return f"{key}={values}"
    each = list(values) if isinstance(values, Iterable) and not isinstance(values, Mapping) else []
    if not each:
        help_text = f"axes={{{key!r}: [1, 2]}}"
        cause = f"{key}: {values!r} is not a list of values"
        raise InputError([Problem("DC050", cause, Place("axes"), help=help_text)])
    texts = (set_text("", value).removeprefix("=") for value in each)
    return f"{key}=choice({','.join(texts)})"


@dataclass(frozen=True)
class PythonWorkers(Workers):
    """The engine of a study in Python: this process, unless the caller chooses another."""

    engine: Annotated[
        EngineName,
        Flag(
            "serial, processes or dask; a script that uses processes needs "
            "`if __name__ == '__main__':`",
            choices=tuple(EngineName),
        ),
    ] = EngineName.SERIAL


@dataclass(frozen=True)
class SweepCall(PythonWorkers, SweepRequest):
    """A sweep from Python: its axes may be a mapping."""

    axes: Annotated[
        tuple[str, ...], Flag("values of each input that varies", python_only=True, pair=axis_text)
    ] = ()

    @property
    def asked(self) -> SweepRequest:
        """The request of the command line, with the axes among its changes."""
        plain = {name: getattr(self, name) for name in SweepRequest.__dataclass_fields__}
        return replace(SweepRequest(**plain), sets=(*self.sets, *self.axes))


@dataclass(frozen=True)
class FrontierCall(PythonWorkers, FrontierRequest):
    """A frontier from Python."""


@verb(SweepCall, "sweep")
def sweep(request: SweepCall) -> Result:
    """Plan many variants of a scenario: a grid, pairs or random samples.

    The table ``points`` has one row for each variant.

    Raises
    ------
    InputError
        When the scenario or an axis is invalid, or arguments contradict each other.
    """
    layout = sweeps.laid_out(request.asked)
    store = Store(request.store or home() / "points")
    return sweeps.sweep(layout, Runner(store, request.of(len(layout.values))))


@verb(FrontierCall, "frontier")
def frontier(request: FrontierCall) -> Result:
    """Trade one metric of the plan against another; the table ``frontier`` has the points.

    Raises
    ------
    InputError
        When a metric cannot be minimized, or the scenario is invalid.
    """
    store = Memory() if request.no_cache else Store(home() / "points")
    engine = request.of(1 + (request.points - 2) // LINE)
    return frontiers.frontier(request, Runner(store, engine))
