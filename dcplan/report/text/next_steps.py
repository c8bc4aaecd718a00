"""Commands that usually follow an answer."""

from __future__ import annotations

import shlex
from pathlib import Path

from dcplan.catalog.locate import data_dir
from dcplan.result import Result
from dcplan.specs.plan.metrics import NPV

AFTER_PLAN = (
    ("explain {file}", "which limits bind and what changes the plan"),
    ("tco {file}", "owned, rented and both"),
    ("plan {file} --export xlsx,html --out report", "workbook and page"),
)
AFTER_NO_PLAN = (("explain {file}", "why there is no plan, and tested remedies"),)


def _typed(path: Path) -> str:
    """Return a scenario as one would type it: a packaged one by its name, others by their path."""
    if path.parent == data_dir("scenarios"):
        return path.stem
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def scenario_words(result: Result) -> str:
    """Return the scenario of a result with its variant and changes, as one types them.

    It is empty if the result has no scenario file.

    Examples
    --------
    >>> scenario = {"path": "a.yaml", "variant": "late", "sets": ["fleet.accelerators=64"]}
    >>> scenario_words(Result("plan", "ok", 0, "x", scenario=scenario))
    'a.yaml --variant late --set fleet.accelerators=64'
    """
    path = result.scenario.get("path")
    if not path:
        return ""
    file = shlex.quote(_typed(Path(str(path))))
    if result.scenario.get("variant"):
        file += f" --variant {shlex.quote(str(result.scenario['variant']))}"
    return file + "".join(
        f" --set {shlex.quote(str(x))}" for x in result.scenario.get("sets") or ()
    )


def next_commands(result: Result) -> list[tuple[str, str]]:
    """Return the next commands of an answer, each with its purpose.

    Examples
    --------
    >>> answer = Result("plan", "infeasible", 3, "x", scenario={"path": "a.yaml"})
    >>> next_commands(answer)
    [('dcplan explain a.yaml', 'why there is no plan, and tested remedies')]
    """
    file = scenario_words(result)
    if result.verb != "plan" or not file:
        return []
    chosen = AFTER_PLAN if NPV.key in result.metrics else AFTER_NO_PLAN
    return [(f"dcplan {text.format(file=file)}", purpose) for text, purpose in chosen]
