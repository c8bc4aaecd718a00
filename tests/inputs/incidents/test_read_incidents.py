"""Logs of incidents: what is read, what is counted, what is refused by file and row."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from dcplan.errors import InputError
from dcplan.inputs.incidents.findings import MEANINGS, Kind
from dcplan.inputs.incidents.read import Incidents, read_incidents
from dcplan.inputs.logs.options import LogOptions

DAY = 86_400.0
HEAD = "node,start,detected,repaired,cause"


def read(
    tmp_path: Path,
    rows: list[str],
    head: str = HEAD,
    *,
    window: str | None = "0/864000",
    fleet: int | None = 10,
    zone: str | None = None,
) -> Incidents:
    file = tmp_path / "log.csv"
    file.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    return read_incidents([file], LogOptions(timezone=zone), window, fleet)


def counts(found: Incidents) -> dict[Kind, int]:
    return {f.kind: f.count for f in found.findings}


def test_every_kind_has_a_meaning() -> None:
    assert set(MEANINGS) == set(Kind)


def test_what_is_missing_stays_unknown(tmp_path: Path) -> None:
    found = read(tmp_path, ["a,100,,200,x", "b,300,300,,x", "a,400,410,,x", "a,900,905,950,y"])
    assert np.isnan(found.detected_s[0])
    assert math.isinf(found.repaired_s[1])  # b failed last here: it is still out
    assert np.isnan(found.repaired_s[2])  # a failed again later: it was repaired, nobody wrote when
    seen = counts(found)
    assert (seen[Kind.DETECTION_UNKNOWN], seen[Kind.OPEN], seen[Kind.REPAIR_UNKNOWN]) == (1, 1, 1)
    assert seen[Kind.DETECTED_AT_START] == 1
    place = next(f.place for f in found.findings if f.kind is Kind.OPEN)
    assert (Path(place.path).name, place.line) == ("log.csv", 3)


def test_a_log_without_repairs_has_no_open_incident(tmp_path: Path) -> None:
    found = read(tmp_path, ["a,100,x"], "node,start,cause")
    assert np.isnan(found.repaired_s).all()
    assert Kind.OPEN not in counts(found)


def test_overlaps_duplicates_zero_lengths_and_unknown_nodes(tmp_path: Path) -> None:
    rows = ["a,100,,200,x", "a,150,,180,y", "a,100,,200,x", "b,300,,300,x", ",400,,500,x"]
    found = read(tmp_path, rows)
    seen = counts(found)
    assert (seen[Kind.OVERLAP], seen[Kind.DUPLICATE]) == (1, 1)
    assert (seen[Kind.ZERO_LENGTH], seen[Kind.UNKNOWN_NODE]) == (1, 1)
    assert len(found) == 4
    assert found.outages.first.tolist() == [True, False, True, True]
    assert np.isnan(found.repaired_s[2])  # not a repair of 0 s
    assert Kind.REPAIR_UNKNOWN not in seen


def test_of_an_open_and_a_repaired_copy_the_repaired_one_counts(tmp_path: Path) -> None:
    found = read(tmp_path, ["a,100,,,x", "a,100,,700,x"])
    assert found.repaired_s.tolist() == [700.0]
    assert counts(found)[Kind.DUPLICATE] == 1


def test_one_event_on_several_nodes_is_counted(tmp_path: Path) -> None:
    found = read(tmp_path, ["a,100,,200,link", "b,100,,200,link", "c,100,,200,gpu"])
    assert counts(found)[Kind.SIMULTANEOUS] == 2


def test_incidents_outside_the_window_are_left_out(tmp_path: Path) -> None:
    found = read(tmp_path, ["a,-5,,200,x", "b,100,,200,x", "c,864001,,864002,x"])
    assert (counts(found)[Kind.OUTSIDE_WINDOW], len(found)) == (2, 1)


def test_the_window_is_the_log_where_none_is_given(tmp_path: Path) -> None:
    found = read(tmp_path, ["a,100,,200,x", "b,300,,400,x"], window=None)
    assert found.window_s == (100.0, 400.0)
    assert not found.window_given


def test_synonyms_and_columns_that_are_not_read(tmp_path: Path) -> None:
    head = "hostname,failure_time,resolved_at,component,root_cause,Ticket"
    found = read(tmp_path, ["a,1970-01-02T00:00:00Z,1970-01-02 02:00:00+01:00,gpu,x,7"], head)
    assert (found.start_s[0], found.repaired_s[0]) == (DAY, DAY + 3_600.0)
    assert (found.nodes, found.parts, found.causes) == (("a",), ("gpu",), ("x",))
    assert counts(found)[Kind.COLUMNS_UNUSED] == 1


def test_events_of_slurms_nodes_are_read(tmp_path: Path) -> None:
    """A node that is down and then drained has not returned in between: one outage."""
    head = "NodeName|TimeStart|TimeEnd|State|Reason"
    rows = ["a|100|200|DOWN*|Not responding", "a|200|900|DRAIN|xid 79, fix", "b|50|Unknown|DOWN|x"]
    found = read(tmp_path, rows, head)
    assert found.outages.first.tolist() == [True, True, False]
    assert math.isinf(found.repaired_s[0])
    assert found.causes[1] == "xid 79, fix"


def test_local_times_need_a_zone_and_the_repeated_hour_is_counted(tmp_path: Path) -> None:
    """On 29 October 2023 Berlin had 02:30 twice: 1698539400 and 1698543000."""
    rows = ["a,2023-10-29T02:30:00,2023-10-29T02:10:00,2023-10-29T04:00:00,x"]
    window = "2023-10-01/2023-11-01"
    with pytest.raises(InputError, match="no zone"):
        read(tmp_path, rows, window=window)
    found = read(tmp_path, rows, window=window, zone="Europe/Berlin")
    assert found.start_s[0] == 1_698_539_400.0
    assert found.detected_s[0] == 1_698_541_800.0  # 02:10 of the second pass, after the start
    assert found.repaired_s[0] == 1_698_548_400.0
    assert found.window_s[0] == 1_696_111_200.0  # 1 October, 00:00 in Berlin
    assert (counts(found)[Kind.LOCAL_TIME], counts(found)[Kind.REPEATED_HOUR]) == (1, 1)


def test_every_bad_row_is_named(tmp_path: Path) -> None:
    rows = ["a,x,,,c", "a,,,,c", "a,100,50,,c", "a,100,,50,c", "a,100,150,120,c", "a,100,c"]
    with pytest.raises(InputError) as caught:
        read(tmp_path, rows)
    found = {(p.place.line, p.cause) for p in caught.value.problems}
    assert {line for line, _ in found} == {2, 3, 4, 5, 6, 7}
    assert (4, "the incident is detected before it starts") in found
    assert (6, "the incident is repaired before it is detected") in found
    assert (7, "3 cells in a row, 5 in the header") in found


@pytest.mark.parametrize(
    ("rows", "head", "fleet", "window", "said"),
    [
        (["a,1,,2,x"], HEAD, None, "0/9", "number of nodes of the cluster"),
        (["a,1,,2,x", "b,1,,2,x"], HEAD, 1, "0/9", "names 2 nodes, more than the 1"),
        (["a,1,,2,x"], HEAD, 5, "9/0", "two times in their order"),
        (["a,1,,2,x"], HEAD, 5, "9", "two times in their order"),
        (["a,1,,,x"], HEAD, 5, None, "length is unknown"),
        (["a,1"], "node,when", 5, "0/9", "columns missing: start"),
        (["a;1"], "node;start", 5, "0/9", "';' as delimiter"),
        (["a,1,4", "b,2,6"], "node,start,cluster_nodes", None, "0/9", "had 4 to 6 nodes"),
        (["a,1,4.5"], "node,start,cluster_nodes", 5, "0/9", "no whole number"),
    ],
)
def test_refusals_name_the_next_step(
    tmp_path: Path, rows: list[str], head: str, fleet: int | None, window: str | None, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        read(tmp_path, rows, head, fleet=fleet, window=window)


def test_a_log_may_have_the_number_of_nodes(tmp_path: Path) -> None:
    head = "node,start,cluster_nodes"
    assert read(tmp_path, ["a,1,40", "b,2,40"], head, fleet=None).fleet == 40
    other = read(tmp_path, ["a,1,40", "b,2,50"], head, fleet=50)
    assert (other.fleet, counts(other)[Kind.NODE_COUNT]) == (50, 1)


def test_a_window_without_incidents_is_read(tmp_path: Path) -> None:
    found = read(tmp_path, [])
    assert (len(found), found.fleet, found.outages.down_s) == (0, 10, 0.0)
