"""``import dcplan``: every verb is a function, and answers and errors are typed."""

from __future__ import annotations

import datetime as dt
import inspect
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dcplan
from dcplan.api.studies import axis_text
from dcplan.cli.app import SUMMARIES
from dcplan.result import Metric, Table
from dcplan.scenario.ref import set_text

VERBS = [
    *("load", "check", "plan", "explain", "sweep", "frontier", "train", "serve", "tco", "fabric"),
    *("demand", "facility", "validate", "diff", "export", "read", "catalog"),
]
NOT_IN_PYTHON = {"calibrate", "doctor", "import", "init", "report", "schema", "show", "test"}
"""Verbs that read or write files of a project: they have no function. ``export`` writes the page of ``report``."""
MAIN = "train-405b-in-90-days"


@pytest.fixture(scope="module")
def main_job() -> dcplan.Result:
    return dcplan.plan(MAIN)


def test_dir_names_every_function() -> None:
    assert [name for name in VERBS if name not in dir(dcplan)] == []
    assert not [name for name in dir(dcplan) if name not in {*dcplan.__all__} and "__" not in name]


def test_every_verb_has_a_function_or_is_named_as_without_one() -> None:
    assert set(SUMMARIES) == (set(VERBS) - {"load", "read"}) | NOT_IN_PYTHON


@pytest.mark.parametrize("name", VERBS)
def test_every_function_has_a_text_and_named_parameters(name: str) -> None:
    function = getattr(dcplan, name)
    assert callable(function)
    assert (inspect.getdoc(function) or "").partition("\n")[0].endswith(".")
    assert inspect.signature(function).parameters


def test_a_room_does_not_hide_the_function_of_its_name() -> None:
    """The import system sets a room as an attribute of the package; the function stays."""
    code = (
        "import importlib, dcplan; importlib.import_module('dcplan.fabric'); "
        "importlib.import_module('dcplan.catalog'); importlib.import_module('dcplan.facility'); "
        "from dcplan.catalog import loader; assert loader.load; "
        "assert callable(dcplan.fabric) and callable(dcplan.catalog) and callable(dcplan.facility)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_wrong_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'dcplan' has no attribute 'plam'"):
        _ = dcplan.plam  # type: ignore[attr-defined]


def test_importing_dcplan_loads_no_heavy_package() -> None:
    code = (
        "import sys, dcplan; assert not {'numpy', 'pandas', 'pyomo', 'pydantic'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_changes_may_be_a_mapping(main_job: dcplan.Result) -> None:
    """A mapping gives the digest of the same texts; a number, a list and a text are read."""
    given = dcplan.load(MAIN, sets={"finance.discount_rate": 0.09, "horizon.start": "2026-Q4"})
    typed = dcplan.load(MAIN, sets=["finance.discount_rate=0.09", "horizon.start=2026-Q4"])
    assert given.scenario == typed.scenario
    assert given.scenario.finance.discount_rate != dcplan.load(MAIN).scenario.finance.discount_rate


def test_numbers_of_numpy_and_dates_are_values() -> None:
    rate = dcplan.load(MAIN, sets={"finance.discount_rate": np.float64(0.09)})
    assert rate.scenario == dcplan.load(MAIN, sets=["finance.discount_rate=0.09"]).scenario
    mw = dcplan.load(MAIN, sets={"sites.ashburn.utility_mw": np.array([14, 14, 15, 15])})
    assert [q.value for q in mw.scenario.sites[0].utility_mw] == [14, 14, 15, 15]
    assert set_text("a", dt.date(2027, 9, 1)) == 'a="2027-09-01"'
    assert axis_text("a", np.linspace(1, 2, 3)) == "a=choice(1.0,1.5,2.0)"


def test_a_change_that_is_no_value_is_refused() -> None:
    with pytest.raises(dcplan.InputError, match=r"finance\.discount_rate: nan is not a number"):
        dcplan.load(MAIN, sets={"finance.discount_rate": float("nan")})
    with pytest.raises(dcplan.InputError, match="is not a number, a text, a list or a mapping"):
        dcplan.load(MAIN, sets={"finance.discount_rate": object()})


def test_frames_have_every_table_the_metrics_and_the_inputs(main_job: dcplan.Result) -> None:
    frames = main_job.frames()
    assert list(frames) == ["metrics", *main_job.tables, "inputs"]
    cost = frames["metrics"].set_index("metric").loc["cost.npv_usd"]
    assert cost["value"] == main_job.value("cost.npv_usd")
    assert cost["unit"] == "USD"
    assert len(frames["inputs"]) == len(main_job.inputs)
    assert frames["racks"]["racks"].sum() == main_job.value("racks.total")


def test_a_missing_name_says_the_nearest_one(main_job: dcplan.Result) -> None:
    with pytest.raises(dcplan.AbsentError, match=r'no metric .*; did you mean "cost\.npv_usd"\?'):
        main_job.value("cost.npv_us")
    with pytest.raises(dcplan.AbsentError, match=r'no table .*; did you mean "racks"\?'):
        main_job.frame("rack")
    with pytest.raises(dcplan.AbsentError, match="no input 'x'"):
        main_job.input_value("x")
    with pytest.raises(dcplan.AbsentError, match=r"flagship\.finish' is not a number: '2027-"):
        main_job.value("train.flagship.finish")


def test_an_infeasible_plan_returns_or_raises_by_choice() -> None:
    """0.1 MW for racks of 132 kW: the answer returns, and raises when asked."""
    found = dcplan.plan(MAIN, sets={"sites.ashburn.utility_mw": 0.1}, remedies_limit_s=0)
    assert found.status == "infeasible"
    assert len(found.frame("excluded")) > 0
    with pytest.raises(dcplan.NoPlanError, match=r"status: infeasible") as caught:
        found.require_plan()
    assert caught.value.result is found
    assert caught.value.exit_code == found.exit_code == 3
    with pytest.raises(dcplan.AbsentError, match="its status is infeasible"):
        found.value("cost.npv_usd")


def test_an_answer_with_a_plan_returns_itself(main_job: dcplan.Result) -> None:
    assert main_job.require_plan() is main_job


def test_a_sweep_takes_axes_as_a_mapping(tmp_path: Path) -> None:
    """Two values of one axis and two of another give four points, all of them solved."""
    axes = {"finance.discount_rate": [0.05, 0.1], "sites.ashburn.utility_mw": "linspace(12,14,2)"}
    points = dcplan.sweep(MAIN, axes=axes, store=tmp_path).frame("points")
    assert list(points["finance.discount_rate"]) == [0.05, 0.05, 0.1, 0.1]
    assert list(points["sites.ashburn.utility_mw"]) == [12, 14, 12, 14]
    assert set(points["status"]) == {"ok"}


@pytest.mark.parametrize("values", [3, [], None])
def test_an_axis_without_values_is_refused(values: object) -> None:
    with pytest.raises(dcplan.InputError, match="is not a list of values"):
        dcplan.sweep(MAIN, axes={"finance.discount_rate": values})


def test_an_unknown_engine_and_an_unknown_argument_are_both_reported() -> None:
    with pytest.raises(dcplan.InputError) as caught:
        dcplan.frontier(MAIN, engine="process", pionts=3)
    text = str(caught.value)
    assert 'did you mean "processes"?' in text
    assert 'did you mean "points"?' in text


def test_a_difference_of_two_results_is_that_of_their_files(
    main_job: dcplan.Result, tmp_path: Path
) -> None:
    other = dcplan.plan(MAIN, sets={"finance.discount_rate": 0.05})
    files = [dcplan.export(x, tmp_path / f"{i}.json") for i, x in enumerate((main_job, other))]
    direct, saved = dcplan.diff(main_job, other), dcplan.diff(*files)
    for name, table in direct.frames().items():
        same = saved.frame(name).drop(columns="scenario", errors="ignore")
        pd.testing.assert_frame_equal(table.drop(columns="scenario", errors="ignore"), same)
    row = direct.frame("metrics_changed").set_index("metric").loc["cost.npv_usd"]
    assert row["before"] == main_job.value("cost.npv_usd")
    assert row["after"] == other.value("cost.npv_usd")


def test_two_results_have_their_labels(main_job: dcplan.Result) -> None:
    found = dcplan.diff(main_job, main_job, labels=["today", "tomorrow"])
    assert found.headline == "today against tomorrow: no difference"


def test_a_result_and_a_path_are_not_compared(main_job: dcplan.Result) -> None:
    with pytest.raises(dcplan.InputError, match="one side is a result"):
        dcplan.diff(main_job, MAIN)
    with pytest.raises(dcplan.InputError, match="gap: two results are compared as they are"):
        dcplan.diff(main_job, main_job, gap=0.1)


@pytest.mark.parametrize("name", ["a.json", "a.xlsx", "a.html", "a.md", "a.focus.csv", "a.memo.md"])
def test_the_ending_gives_the_format(main_job: dcplan.Result, tmp_path: Path, name: str) -> None:
    path = dcplan.export(main_job, tmp_path / name)
    start = path.read_bytes()[:20]
    wanted = {
        "a.json": b"{",
        "a.xlsx": b"PK",
        "a.html": b"<!",
        "a.md": b"<!-- dcplan",
        "a.focus.csv": b"BilledCost,",
        "a.memo.md": b"# ",
    }
    assert start.startswith(wanted[name]), start


def test_a_saved_result_is_read_back(main_job: dcplan.Result, tmp_path: Path) -> None:
    read = dcplan.read(dcplan.export(main_job, tmp_path / "plan.json"))
    assert read.to_json() == main_job.to_json()
    assert dcplan.export(main_job, tmp_path / "tables").joinpath("metrics.csv").is_file()


def test_an_unknown_format_is_refused(main_job: dcplan.Result, tmp_path: Path) -> None:
    with pytest.raises(dcplan.InputError, match=r"a\.docx: no format has this ending"):
        dcplan.export(main_job, tmp_path / "a.docx")
    with pytest.raises(dcplan.InputError, match='did you mean "xlsx"'):
        dcplan.export(main_job, tmp_path / "a", to="xlxs")


def test_rows_of_a_catalog_are_a_frame() -> None:
    rows = dcplan.catalog("systems").frame("rows").set_index("id")
    assert rows.loc["gb200-nvl72", "accelerators"] == 72
    kinds = dcplan.catalog().frame("rows")
    assert kinds.set_index("kind").loc["systems", "rows"] == len(rows)
    row = dcplan.catalog("systems", "gb200-nvl72").frame("values").set_index("field")
    assert row.loc["accelerators", "value"] == rows.loc["gb200-nvl72", "accelerators"]


def test_jupyter_shows_the_headline_and_each_table_without_markup_of_the_data() -> None:
    result = dcplan.Result(
        "plan",
        "ok",
        0,
        "<b>racks</b> & rows",
        metrics={"cost.npv_usd": Metric(126_123_456.7, "USD", "Net present cost")},
        tables={
            "racks": Table(("system", "racks"), (("<x>", 2), (None, 1))),
            "none": Table((), ()),
        },
    )
    html = result._repr_html_()
    assert "&lt;b&gt;racks&lt;/b&gt; &amp; rows" in html
    assert "<td>Net present cost</td><td>126,123,457</td><td>USD</td><td>cost.npv_usd</td>" in html
    assert "<summary>racks (2 rows)</summary>" in html
    assert "<td>&lt;x&gt;</td><td>2</td>" in html
    assert "none (" not in html


def test_every_frame_is_a_frame_of_pandas(main_job: dcplan.Result) -> None:
    assert all(isinstance(frame, pd.DataFrame) for frame in main_job.frames().values())


def test_errors_reach_another_process() -> None:
    """Dask and multiprocessing pickle what a task raises."""
    with pytest.raises(dcplan.InputError) as wrong:
        dcplan.load("no-such-file.yaml")
    copied = pickle.loads(pickle.dumps(wrong.value))  # noqa: S301 - our own bytes
    assert copied.problems == wrong.value.problems
    assert str(copied) == str(wrong.value)
    missing = dcplan.NoPlanError(dcplan.Result("plan", "infeasible", 3, "no plan"))
    again = pickle.loads(pickle.dumps(missing))  # noqa: S301 - our own bytes
    assert str(again) == "no plan [status: infeasible]"
    assert again.result == missing.result


@pytest.mark.parametrize(
    "given", [{"labels": ("a", "b")}, {"labels": "ab", "against": True}, {"answers": True}]
)
def test_an_option_of_export_without_effect_is_refused(
    given: dict[str, object], tmp_path: Path
) -> None:
    hall = dcplan.facility(site="us-ashburn", cooling="direct-liquid-tower", it_mw=20)
    other = {"against": hall, "answers": [hall]}
    options = {name: other[name] if value is True else value for name, value in given.items()}
    with pytest.raises(dcplan.InputError, match="DC050"):
        dcplan.export(hall, tmp_path / "x.html", **options)  # type: ignore[arg-type]
    assert not (tmp_path / "x.html").exists()
