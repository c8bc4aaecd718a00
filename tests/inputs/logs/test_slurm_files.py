"""Files of Slurm exports: bad rows, overlaps, JSON, columns."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dcplan.demand.log.jobs import State
from dcplan.inputs.logs.options import Kind
from dcplan.inputs.logs.traps import MEANINGS, Trap
from tests.inputs.logs.files import DATA, counts, read, refused
from tests.inputs.logs.test_slurm import T


def test_all_bad_rows_are_named_at_once() -> None:
    found = refused("bad_rows.txt")
    assert [row for _, row, _ in found] == [2, 3, 4, 5, 6]
    causes = " / ".join(cause for *_, cause in found)
    for part in ("'x1' is not", "'soon' is neither", "'DANCING'", "'gres/gpu=many'", "4 cells"):
        assert part in causes


def test_a_start_before_the_submission_has_no_wait_and_an_end_before_the_start_is_refused() -> None:
    ((_, row, cause),) = refused("early_start.txt")
    assert (row, cause) == (3, "the run ends before it starts")


def test_overlapping_exports_count_each_run_once(tmp_path) -> None:
    for names in (
        ("overlap_january.txt", "overlap_february.txt"),
        ("overlap_february.txt", "overlap_january.txt"),
    ):
        found = read(*names)
        # the later export wins: job 40 ended, and the tasks replace the pending array
        assert len(found.log) == 4
        assert found.log.state.tolist() == [State.COMPLETED] * 4
        assert counts(found)[Trap.DUPLICATE] == 2
        assert Trap.ARRAY_PENDING not in counts(found)
    # without JobIDRaw no id of a task is that of the array
    copies = []
    for name in ("overlap_january.txt", "overlap_february.txt"):
        rows = [row.split("|") for row in (DATA / name).read_text().splitlines()]
        (tmp_path / name).write_text("".join("|".join([r[0], *r[2:]]) + "\n" for r in rows))
        copies.append(str(tmp_path / name))
    assert len(read(*copies).log) == 4


def test_json_of_old_and_new_layouts_gives_the_same_row() -> None:
    old, new = read("sacct_v0.0.37.json"), read("sacct_v0.0.41.json")
    for log in (old.log, new.log):
        assert log.submit_s[0] == T
        assert (log.eligible_s[0] - T, log.start_s[0] - T, log.end_s[0] - T) == (50, 100, 900)
        assert (log.accelerators[0], log.requested[0], log.limit_s[0]) == (4.0, 4.0, 3600.0)
        assert (log.priority[0], log.users[log.user[0]]) == (77.0, "ann")
    assert len(old.log) == 1
    assert len(new.log) == 3  # and tasks 2 and 3 of a pending array
    assert np.isnan(new.log.limit_s[1])
    assert new.files[0].kind is Kind.SACCT_JSON
    assert Trap.SCHEMA_UNKNOWN not in counts(old) | counts(new)


def test_an_unknown_layout_of_json_is_flagged(tmp_path) -> None:
    text = (DATA / "sacct_v0.0.41.json").read_text().replace("v0.0.41", "v0.0.99")
    (tmp_path / "x.json").write_text(text)
    assert counts(read(str(tmp_path / "x.json")))[Trap.SCHEMA_UNKNOWN] == 1


@pytest.mark.parametrize("meta", ["[]", '{"plugin": [1]}', '{"plugins": 7}', '"x"', "null"])
def test_a_layout_that_is_not_named_is_flagged(meta: str, tmp_path: Path) -> None:
    data = json.loads((DATA / "sacct_v0.0.41.json").read_text())
    file = tmp_path / "x.json"
    file.write_text(json.dumps({**data, "meta": json.loads(meta)}))
    assert counts(read(str(file)))[Trap.SCHEMA_UNKNOWN] == 1


def test_numbers_of_nodes_are_whole(tmp_path: Path) -> None:
    file = tmp_path / "x.txt"
    head = "JobID|State|Submit|Start|End|NNodes|AllocTRES\n"
    rows = [f"{i}|COMPLETED|1|2|3|{n}|gres/gpu=1\n" for i, n in enumerate(("1", "-2", "1e-320"))]
    file.write_text(head + "".join(rows))
    assert [row for _, row, _ in refused(str(file))] == [3, 4]


def test_columns_that_are_missing_or_unused_are_named(tmp_path) -> None:
    file = tmp_path / "x.txt"
    file.write_text("JobID|JobName|State|Submit|Start\n1|a|COMPLETED|1|2\n")
    ((_, _, cause),) = refused(str(file))
    assert cause == "columns missing: End, ReqTRES"
    file.write_text(
        "JobID|JobName|State|Submit|Start|End|AllocTRES|\n1|a|COMPLETED|1|2|3|gres/gpu=1|\n"
    )
    found = read(str(file))
    assert counts(found)[Trap.COLUMNS_UNUSED] == 1
    assert np.isnan(found.log.requested[0])  # the file does not say what was asked for


def test_many_bad_rows_are_counted(tmp_path) -> None:
    file = tmp_path / "x.txt"
    rows = [f"{i}|COMPLETED|soon|2|3|gres/gpu=1\n" for i in range(200)]
    file.write_text("JobID|State|Submit|Start|End|AllocTRES\n" + "".join(rows))
    found = refused(str(file))
    assert len(found) == 51
    assert found[-1][2].startswith("150 more rows cannot be read")


def test_every_trap_is_explained_in_the_docs(repo) -> None:
    page = (repo / "docs" / "method" / "job-logs.md").read_text(encoding="utf-8")
    rows = [f"| `{t}` | {MEANINGS[t][0]} | {MEANINGS[t][1]} |" for t in Trap]
    assert [row for row in rows if row not in page] == []
