"""``dcplan doctor``: versions, solver and paths, to paste into an issue."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

from dcplan import __version__
from dcplan.catalog.loader import load
from dcplan.catalog.locate import data_dir
from dcplan.errors import EXIT_BUG, EXIT_OK
from dcplan.planning.solve import highs
from dcplan.result import Result
from dcplan.specs.reference.doctor import VERSIONS, VersionRow

PACKAGES = ("typer", "rich", "pydantic", "PyYAML", "numpy", "scipy", "pandas", "pyomo", "highspy")


def doctor() -> Result:
    """Return versions, the result of a solver test with one variable, and the data folders."""
    rows: list[tuple[str, str | int]] = [
        ("dcplan", __version__),
        ("python", sys.version.split()[0]),
        ("platform", platform.platform()),
    ]
    for name in PACKAGES:
        try:
            rows.append((name, version(name)))
        except PackageNotFoundError:
            rows.append((name, "missing"))
    solver = highs.self_test()
    catalog = load()
    rows += [
        ("solver", solver),
        ("catalogs", str(data_dir("catalogs"))),
        ("scenarios", str(data_dir("scenarios"))),
        ("catalog rows", sum(len(t) for t in catalog.rows.values())),
        ("catalogs sha256", catalog.digest),
    ]
    good = solver == "HiGHS solves"
    return Result(
        "doctor",
        "ok" if good else "broken",
        EXIT_OK if good else EXIT_BUG,
        f"dcplan {__version__}: {'everything works' if good else solver}",
        tables={VERSIONS.name: VERSIONS.table(VersionRow(*row) for row in rows)},
    )
