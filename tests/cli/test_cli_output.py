"""stdout carries the document and nothing else; files are written whole; saved results give back
what was saved."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import dcplan
from dcplan.result import Result, from_dict
from tests.cli.conftest import TINY, Ran, spawn

RUN_BLOCK = re.compile(r'^ "run": \{.*?^ \},$', flags=re.MULTILINE | re.DOTALL)


def plan_result(ran: Ran) -> Result:
    return from_dict(json.loads(ran.out))


def test_json_on_stdout_is_one_document_and_warnings_are_on_stderr(
    here: Callable[..., Ran], tiny: Path
) -> None:
    charge = (
        "utility_mw: 4\n    energy: {demand_usd_per_kw_month: 9}"  # beside an all-in price: warned
    )
    tiny.write_text(TINY.replace("utility_mw: 4", charge), encoding="utf-8")
    ran = here("plan", "tiny.yaml", "-f", "json", "--no-progress")
    document = json.loads(ran.out)  # any other text on stdout would not parse
    assert document["schema"] == "dcplan.result/1"
    assert ran.out.endswith("}\n")
    assert any(
        "already includes demand charges" in warning["message"] for warning in document["warnings"]
    )
    assert "already includes demand charges" in ran.err
    assert "already includes demand charges" not in here("plan", "tiny.yaml", "-q").err


def test_csv_on_stdout_has_one_header_and_full_rows(here: Callable[..., Ran], tiny: Path) -> None:
    ran = here("plan", "tiny.yaml", "-f", "csv", "-q")
    rows = list(csv.reader(io.StringIO(ran.out, newline="")))
    assert rows[0] == ["metric", "value", "low", "high", "unit", "label"]
    assert {len(row) for row in rows} == {6}
    assert "cost.npv_usd" in {row[0] for row in rows}
    assert ran.err == ""


def test_first_line_of_a_table_answer_is_the_answer(here: Callable[..., Ran], tiny: Path) -> None:
    first = here("plan", "tiny.yaml", "-q").out.splitlines()[0]
    shape = r"tiny: buy [\d,]+ accelerators .*; [\d.]+ MW peak facility power; .*"
    assert re.match(shape + r"(within [\d.]+% of the|proven) best possible cost$", first), first


def test_piped_table_is_plain_and_not_cut(here: Callable[..., Ran], tiny: Path) -> None:
    out = here("plan", "tiny.yaml", "-q", "-v").out  # COLUMNS is 80 here
    assert "\x1b" not in out
    assert "…" not in out
    assert max(map(len, out.splitlines())) > 80
    document = json.loads(here("plan", "tiny.yaml", "-q", "-f", "json").out)
    sources = {row["source"] for row in document["inputs"] if row["source"]}
    assert sources
    assert [s for s in sources if s not in out] == []


@pytest.mark.parametrize("fmt", ["table", "json", "csv"])
def test_out_writes_the_whole_file_and_leaves_stdout_empty(
    here: Callable[..., Ran], tiny: Path, fmt: str
) -> None:
    on_stdout = here("plan", "tiny.yaml", "-q", "-f", fmt)
    to_file = here("plan", "tiny.yaml", "-q", "-f", fmt, "-o", "out/answer.txt")
    assert (to_file.code, to_file.out) == (0, "")
    written = Path("out/answer.txt").read_text(encoding="utf-8")
    assert RUN_BLOCK.sub("", written) == RUN_BLOCK.sub("", on_stdout.out)
    assert [p.name for p in Path("out").iterdir()] == ["answer.txt"]  # no temporary file stays


def test_out_with_the_ending_of_a_workbook_writes_one_unless_a_format_is_asked_for(
    here: Callable[..., Ran], tiny: Path
) -> None:
    command = ("fabric", "--nodes", "16", "--system", "dgx-h100", "--fabric", "ib-ndr-400", "-q")
    assert here(*command, "-o", "book.xlsx").code == 0
    assert Path("book.xlsx").read_bytes()[:2] == b"PK"
    assert here(*command, "-f", "json", "-o", "text.xlsx").code == 0
    assert json.loads(Path("text.xlsx").read_text(encoding="utf-8"))["verb"] == "fabric"


@pytest.mark.parametrize("path", ["tiny.yaml/answer.json", "folder"])
def test_unwritable_out_exits_2_with_the_path(
    here: Callable[..., Ran], tiny: Path, path: str
) -> None:
    Path("folder").mkdir()
    ran = here("plan", "tiny.yaml", "-q", "-f", "json", "-o", path)
    assert ran.code == 2
    assert ran.out == ""
    assert f"{path}:" in ran.err  # the path that was asked for, not the name of a temporary file
    assert "DC006" in ran.err
    assert [p.name for p in Path().iterdir() if p.name.startswith(".folder")] == []


def test_two_processes_give_the_same_bytes_but_for_the_run_block(
    here: Callable[..., Ran], train_405b: tuple[Ran, Path]
) -> None:
    first, _ = train_405b  # another process with another hash seed
    second = here("plan", "train-405b-in-90-days", "-f", "json")
    assert RUN_BLOCK.search(first.out)
    assert RUN_BLOCK.sub("", first.out) == RUN_BLOCK.sub("", second.out)


def test_json_keys_are_sorted_and_floats_are_finite(train_405b: tuple[Ran, Path]) -> None:
    ran, _ = train_405b

    def refuse(name: str) -> None:
        pytest.fail(f"{name} is not JSON")

    document = json.loads(ran.out, parse_constant=refuse)
    assert json.dumps(document, sort_keys=True, indent=1, ensure_ascii=False) + "\n" == ran.out


def test_show_repeats_the_saved_answer(
    here: Callable[..., Ran], train_405b: tuple[Ran, Path]
) -> None:
    _, saved = train_405b
    again = here("show", str(saved), "-f", "json")
    assert again.code == 0
    assert again.out == saved.read_text(encoding="utf-8")
    assert here("show", str(saved)).out.splitlines()[0] == json.loads(again.out)["headline"]


def test_show_section_gives_only_that_part(
    here: Callable[..., Ran], train_405b: tuple[Ran, Path]
) -> None:
    _, saved = train_405b
    document = json.loads(saved.read_text(encoding="utf-8"))
    part = json.loads(here("show", str(saved), "racks", "-f", "json").out)
    assert part == document["tables"]["racks"]
    assert json.loads(here("show", str(saved), "metrics", "-f", "json").out) == document["metrics"]
    lines = here("show", str(saved), "racks").out.splitlines()
    assert lines[0].startswith("Order quarter  Serves from  Hall")
    assert len(lines) == 1 + len(document["tables"]["racks"]["rows"])


def test_show_unknown_section_exits_2_with_the_nearest_name(
    here: Callable[..., Ran], train_405b: tuple[Ran, Path]
) -> None:
    ran = here("show", str(train_405b[1]), "rack")
    assert ran.code == 2
    assert 'did you mean "racks"?' in ran.err


def test_csv_export_reads_back_equal(
    here: Callable[..., Ran], train_405b: tuple[Ran, Path], tmp_path: Path
) -> None:
    _, saved = train_405b
    tables = json.loads(saved.read_text(encoding="utf-8"))["tables"]
    assert here("export", str(saved), "--to", "csv", "-o", "folder").code == 0
    assert {p.stem for p in Path("folder").iterdir()} == {
        *tables,
        "metrics",
        "inputs",
        "datapackage",
    }
    for name, table in tables.items():
        with Path(f"folder/{name}.csv").open(encoding="utf-8", newline="") as stream:
            header, *rows = list(csv.reader(stream))
        assert header == [column["name"] for column in table["columns"]]
        assert len(rows) == len(table["rows"])
        for text, row in zip(rows, table["rows"], strict=True):
            for cell, value in zip(text, row, strict=True):
                back = (
                    None if cell == "" else float(cell) if isinstance(value, int | float) else cell
                )
                assert back == (None if value == "" else value)  # CSV has one kind of empty cell


def test_json_export_is_the_saved_result(
    here: Callable[..., Ran], train_405b: tuple[Ran, Path]
) -> None:
    _, saved = train_405b
    text = saved.read_text(encoding="utf-8")
    assert here("export", str(saved), "--to", "json").out == text
    assert here("export", str(saved), "--to", "json", "-o", "again.json").out == "again.json\n"
    assert Path("again.json").read_text(encoding="utf-8") == text


def test_fixed_decisions_reproduce_the_plan(
    here: Callable[..., Ran], train_405b: tuple[Ran, Path]
) -> None:
    ran, saved = train_405b
    first = plan_result(ran)
    again = plan_result(
        here("plan", "train-405b-in-90-days", "--fix-decisions", str(saved), "-f", "json", "-q")
    )
    assert again.tables["decisions"] == first.tables["decisions"]
    assert again.value("cost.npv_usd") == pytest.approx(first.value("cost.npv_usd"), rel=1e-9)


def test_fixed_decisions_at_another_tariff_change_only_the_energy_bill(
    train_405b: tuple[Ran, Path],
) -> None:
    first = plan_result(train_405b[0])
    dear = dcplan.plan(
        "train-405b-in-90-days", fix_decisions=first, sets=["sites.ashburn.energy.usd_per_kwh=0.2"]
    )
    assert dear.tables["decisions"] == first.tables["decisions"]
    moved = {
        key
        for key, metric in dear.metrics.items()
        if isinstance(metric.value, float)
        and metric.value != pytest.approx(first.value(key), rel=1e-9)
    }
    # a tariff is in the energy bill, in what contains it, and in the solver's bound of that cost;
    # nowhere else
    costs = {"cost.energy_usd", "cost.npv_usd", "train.flagship.cost_usd"}
    costs |= {"workloads.flagship.cost_usd", "cost.unused_usd"}
    assert costs <= moved <= {*costs, "solver.bound_usd", "solver.gap_frac"}
    # Ashburn has no demand charge: bill = MWh x 1000 kWh/MWh x 0.2 USD/kWh
    mwh = float(dear.frame("power")["energy_mwh"].sum())
    assert dear.value("cost.energy_usd") == pytest.approx(mwh * 1000 * 0.2, rel=1e-6)


def test_fixed_decisions_that_the_scenario_does_not_offer_are_refused(
    here: Callable[..., Ran], train_405b: tuple[Ran, Path], tiny: Path
) -> None:
    ran = here("plan", "tiny.yaml", "--fix-decisions", str(train_405b[1]))
    assert ran.code == 2
    assert "--fix-decisions" in ran.err
    assert "nvl72" in ran.err  # the decision that has no place here


@pytest.mark.parametrize("to", ["xlsx", "html", "csv", "md", "json", "focus"])
def test_an_export_that_cannot_be_written_is_exit_2_with_the_path(
    here: Callable[..., Ran], train_405b: tuple[Ran, Path], to: str
) -> None:
    ran = here("export", str(train_405b[1]), "--to", to, "-o", "/proc/nowhere/x")
    assert ran.code == 2
    assert "/proc/nowhere" in ran.err


def test_the_bill_of_a_comparison_is_asked_of_plan(
    here: Callable[..., Ran], tmp_path: Path
) -> None:
    saved = tmp_path / "tco.json"
    saved.write_text(Result("tco", "ok", 0, "own or rent").to_json(), encoding="utf-8")
    ran = here("export", str(saved), "--to", "focus")
    assert ran.code == 2
    assert "help: dcplan plan FILE -f json -o RESULT" in ran.err


def test_a_full_disk_leaves_no_half_file(train_405b: tuple[Ran, Path], tmp_path: Path) -> None:
    ran = spawn("export", str(train_405b[1]), "--to", "xlsx", "-o", "/dev/full", cwd=tmp_path)
    assert ran.code == 2
    assert "/dev/full" in ran.err
    assert list(tmp_path.iterdir()) == []


def test_exports_beside_the_answer_need_no_second_solve(
    here: Callable[..., Ran], tmp_path: Path
) -> None:
    ran = here(
        "plan",
        "own-or-rent-1024-h200",
        "--export",
        "xlsx,csv,html,md,json,focus,purchases,memo",
        "--out",
        "out",
        "-q",
    )
    assert ran.code == 0
    assert ran.out.startswith("own-or-rent-1024-h200:")  # the answer is still printed
    names = {p.name for p in Path("out").iterdir()}
    stem = "own-or-rent-1024-h200"
    texts = ("xlsx", "html", "md", "json", "focus.csv", "purchases.csv", "memo.md", "memo.html")
    assert names == {"csv", *(f"{stem}.{x}" for x in texts)}
    schedule = Path(f"out/{stem}.purchases.csv").read_bytes()
    assert schedule == Path("out/csv/purchases.csv").read_bytes()
    again = here("export", f"out/{stem}.json", "--to", "memo", "--with", f"out/{stem}.json")
    assert again.code == 0
    assert Path(f"out/{stem}.memo.md").read_text(encoding="utf-8").startswith("# Decision memo")
    saved = json.loads(Path(f"out/{stem}.json").read_text(encoding="utf-8"))
    assert here("export", f"out/{stem}.json", "--to", "xlsx", "-o", "again.xlsx").code == 0
    assert Path("again.xlsx").read_bytes() == Path(f"out/{stem}.xlsx").read_bytes()
    assert saved["verb"] == "plan"
    assert here("plan", stem, "--export", "xslx").code == 2
    assert here("plan", stem, "--export", "xlsx", "--out", f"out/{stem}.json").code == 2


def test_the_folder_of_exports_has_no_name_of_a_file(here: Callable[..., Ran]) -> None:
    """It would become a folder with the name of the answer that the user wants to save."""
    ran = here("plan", "starter", "-f", "json", "-o", "answer.json", "--export", "csv")
    assert ran.code == 2
    assert "answer.json has the name of a file" in ran.err
    assert "--out answer;" in ran.err
    assert not Path("answer.json").exists()


@pytest.mark.parametrize(
    "verb", [("plan", "own-or-rent-1024-h200"), ("catalog", "show", "dgx-h100")]
)
def test_markdown_is_a_format_of_every_answer(
    here: Callable[..., Ran], verb: tuple[str, ...]
) -> None:
    ran = here(*verb, "-f", "md", *(["-q"] if verb[0] == "plan" else []))
    assert ran.code == 0
    assert ran.out.startswith("<!-- dcplan:")
    assert "| ---" in ran.out


def test_many_rejected_rows_of_an_import_are_counted_by_reason(tmp_path: Path) -> None:
    rows = [
        "provider,instance_sku,accelerator,accel_count,on_demand_usd_h,price_basis,date",
        "AWS,p5en.48xlarge,H200,8,50,per instance,2026-10-01",
        *(f"Mine,s{i},B3{i},8,2,per instance,2026-10" for i in range(20)),
        "Mine,t,H200,8,2,per TB-month,2026-10",
    ]
    (tmp_path / "list.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    ran = spawn("import", "list.csv", "--kind", "prices", cwd=tmp_path)
    assert ran.out.startswith("list.csv: 1 row imported, 21 rejected")
    assert "Mine s3" not in ran.out
    counted = [line.split() for line in ran.out.splitlines()]
    assert ["unknown", "accelerator", "20", "3", "Mine", "s0"] in [row[:6] for row in counted]
    assert ["unsupported", "price_basis", "1", "23", "Mine", "t"] in [row[:6] for row in counted]
    every = spawn("import", "list.csv", "--kind", "prices", "-f", "json", cwd=tmp_path)
    assert len(json.loads(every.out)["tables"]["rejected"]["rows"]) == 21


def test_import_writes_the_answer_to_out_and_the_data_to_save(
    here: Callable[..., Ran], tmp_path: Path
) -> None:
    head = "provider,instance_sku,accelerator,accel_count,on_demand_usd_h,price_basis,date"
    row = "AWS,p5en.48xlarge,H200,8,50,per instance,2026-10-01"
    Path("list.csv").write_text(f"{head}\n{row}\n", encoding="utf-8")
    asked = ("import", "list.csv", "--kind", "prices", "-f", "json", "-o", "x.json")
    ran = here(*asked, "--save", "mine")
    assert (ran.code, ran.out) == (0, "")
    assert json.loads(Path("x.json").read_text(encoding="utf-8"))["verb"] == "import"
    assert "p5en" in Path("mine/cloud/imported.yaml").read_text(encoding="utf-8")
    Path("none.csv").write_text(f"{head}\n{row.replace('50', '')}\n", encoding="utf-8")
    refused = here("import", "none.csv", "--kind", "prices", "--save", "other")
    assert refused.code == 2
    assert "nothing saved to other" in refused.err
    assert not Path("other").exists()


def test_the_hours_of_a_plan_are_a_file_without_prices_where_redacted(
    here: Callable[..., Ran], tiny: Path
) -> None:
    own = "utility_mw: 4\n    energy: {usd_per_kwh: 0.0777}"
    tiny.write_text(TINY.replace("utility_mw: 4", own), encoding="utf-8")
    asked = ("plan", "tiny.yaml", "--replay-hours", "--hours", "h.csv", "-f", "json")
    ran = here(*asked, "--no-progress")
    assert "replay_hours" not in plan_result(ran).tables
    rows = list(csv.DictReader(io.StringIO((tiny.parent / "h.csv").read_text())))
    assert len(rows) == 2160 + 2184
    assert float(rows[0]["usd_per_mwh"]) == pytest.approx(77.7)
    redacted = here(*asked, "--no-progress", "--redact")
    cost = plan_result(redacted).frame("replay")["energy_usd"]
    assert cost.isna().all()
    assert "77.7" not in (tiny.parent / "h.csv").read_text()


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize(
    ("words", "flag"), [(("plan", "tiny.yaml"), "--set"), (("explain", "tiny.yaml"), "--what-if")]
)
def test_a_change_that_a_later_one_replaces_is_named(
    here: Callable[..., Ran], words: tuple[str, ...], flag: str
) -> None:
    """The last value counts, as the options of a remedy need it, but not without a message."""
    first, last = "finance.discount_rate=0.09", 'finance."discount_rate"=0.1'
    ran = here(*words, flag, first, flag, last)
    assert ran.code == 0
    assert f"note: {flag} {first} has no effect: {flag} {last} replaces it\n" in ran.err
    assert "has no effect" not in here(*words, flag, last).err
