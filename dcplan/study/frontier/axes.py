"""The two metrics of a frontier."""

from __future__ import annotations

from dataclasses import dataclass

from dcplan.errors import InputError, Place, Problem, did_you_mean
from dcplan.planning.goal import METRICS, measure_of
from dcplan.scenario.load import Question
from dcplan.specs.plan import metrics
from dcplan.specs.registry import metric_of
from dcplan.study.frontier.request import FrontierRequest

COMPUTE_KEY = "compute.pflop_days"
FINISH_KEY = "time.total_completion_days"


@dataclass(frozen=True)
class Axis:
    """A metric that can be minimized."""

    key: str
    measure: str
    factor: float

    @property
    def unit(self) -> str:
        """Unit of the metric, as printed."""
        found = metric_of("plan", self.key)
        return found.unit if found is not None else ""

    def metric(self, value: float) -> float:
        """Convert a measure to the value of the metric."""
        return value * self.factor


def axis_of(key: str) -> Axis:
    """Return the axis of a metric that can be minimized.

    Raises
    ------
    ValueError
        When it cannot.
    """
    found = measure_of(key)
    if found is None:
        msg = f"{key} cannot be minimized"
        raise ValueError(msg)
    return Axis(key, *found)


def axes_asked(request: FrontierRequest, question: Question) -> tuple[Axis, Axis]:
    """Return the two axes of a request.

    Raises
    ------
    InputError
        DC015 when a metric is missing, is not an axis of this scenario, or appears twice.
    """
    work = question.scenario.workloads
    jobs = [f"train.{j.id}.days" for j in work.jobs]
    known = [*METRICS, *jobs]
    listed = "one of " + ", ".join(known)
    if request.y is None:
        cause = "the second metric is missing"
        raise InputError([Problem("DC015", cause, Place("--y"), help=listed)])
    problems = []
    asked = {"--x": request.x, "--y": request.y}
    for flag, key in asked.items():
        if measure_of(key) is None or key not in known:
            hint = did_you_mean(key, known)
            cause = f"{key}: not a metric that can be minimized"
            problems.append(Problem("DC015", cause, Place(flag), hint, help=listed))
    needs = {
        COMPUTE_KEY: ("workloads.capacity", work.capacity),
        FINISH_KEY: ("a job in workloads", work.jobs),
        metrics.AFTER_TAX_NPV.key: (
            "finance.tax, finance.debt or finance.payment",
            question.scenario.has_financing,
        ),
    }
    problems += [
        Problem("DC015", f"{key} needs {block}", Place("frontier"))
        for key, (block, there) in needs.items()
        if key in asked.values() and not there
    ]
    if request.x == request.y:
        problems.append(Problem("DC015", f"{request.y}: both axes are identical", Place("--y")))
    if problems:
        raise InputError(problems)
    return axis_of(request.x), axis_of(request.y)
