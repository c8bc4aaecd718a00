"""Rows of racks: nothing is lost, every row has its share."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from dcplan.facility.floor import line_up, rows_of

KINDS = st.dictionaries(
    st.sampled_from(["compute", "network", "cdu"]), st.integers(0, 300), min_size=1
)


@given(KINDS, st.integers(1, 30))
@settings(max_examples=100, deadline=None)
def test_every_rack_stands_once_and_no_row_is_longer(racks: dict[str, int], per_row: int) -> None:
    rows = rows_of(racks, per_row)
    total = sum((Counter(row) for row in rows), Counter())
    assert dict(total) == {k: n for k, n in racks.items() if n}
    assert all(sum(row.values()) == per_row for row in rows[:-1])
    assert not rows or 1 <= sum(rows[-1].values()) <= per_row


@given(st.integers(50, 300), st.integers(10, 100), st.integers(8, 30))
@settings(max_examples=60, deadline=None)
def test_kinds_are_spread_evenly(compute: int, network: int, per_row: int) -> None:
    """A full row has its share of each kind within one rack."""
    for row in rows_of({"compute": compute, "network": network}, per_row)[:-1]:
        assert abs(row.get("network", 0) - per_row * network / (compute + network)) <= 1.0 + 1e-9


@given(KINDS)
@settings(max_examples=60, deadline=None)
def test_a_line_up_has_all_racks_of_its_row(row: dict[str, int]) -> None:
    kinds = line_up(row, "cdu", "network")
    assert Counter(kinds) == Counter({k: n for k, n in row.items() if n})
    if row.get("cdu", 0) > 1:
        assert kinds[0] == kinds[-1] == "cdu"
