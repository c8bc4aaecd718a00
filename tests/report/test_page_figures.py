"""Every number on a page is in the JSON of its result, to the printed precision."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

import pytest

import dcplan
from dcplan.report.html.figures import ranked
from dcplan.report.html.page import page
from dcplan.report.text.headings import title_of
from dcplan.result import Result, from_dict
from dcplan.specs.headers import header
from tests.plans import planned

MARKS = {"": 1.0, "k": 1e3, "M": 1e6, "bn": 1e9, "tn": 1e12, "%": 0.01}
NUMBER = re.compile(r"([-+]?)(?:USD )?(-?[\d,]*\.?\d+)(?:[\s\u00a0]?(k|M|bn|tn|%))?")
SCALES = {", USD k": 1e3, ", USD M": 1e6, ", %": 0.01}
"""Ends of a header with the amount that one of its numbers is."""


@dataclass
class Grid:
    caption: str = ""
    heads: list[str] = field(default_factory=list)
    rows: list[list[tuple[str, bool]]] = field(default_factory=list)
    sorts: bool = False
    quarter: str | None = None
    """Quarter of the state that the table belongs to."""


class Reader(HTMLParser):
    """Tables and tiles of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.grids: list[Grid] = []
        self.tiles: list[str] = []
        self.states: list[tuple[str, str]] = []
        """Tiles of the states, with their quarter."""
        self.quarter: str | None = None
        self.text: list[str] | None = None
        self.right = False
        self.in_tile = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        if known.get("class") == "state" or tag == "section":
            self.quarter = known.get("data-quarter")
        if tag == "table":
            sorts = "sorts" in str(known.get("class"))
            self.grids.append(Grid(sorts=sorts, quarter=self.quarter))
        if tag == "tr" and self.grids:
            self.grids[-1].rows.append([])
        if tag in ("td", "th", "caption", "b"):
            self.text, self.right = [], known.get("class") == "n"

    def handle_data(self, data: str) -> None:
        if self.text is not None:
            self.text.append(data)

    def handle_endtag(self, tag: str) -> None:
        if self.text is None or tag not in ("td", "th", "caption", "b"):
            return
        text, self.text = "".join(self.text), None
        if tag == "b" and self.quarter is not None:
            self.states.append((self.quarter, text))
        elif tag == "b":
            self.tiles.append(text)
        elif tag == "caption":
            self.grids[-1].caption = text
        elif tag == "th":
            self.grids[-1].heads.append(text)
        else:
            self.grids[-1].rows[-1].append((text, self.right))


def number(text: str) -> tuple[float, float] | None:
    """Return a printed number and half a unit of its last digit; None for a text."""
    found = NUMBER.match(text.strip())
    if found is None or not re.fullmatch(r"[^A-Za-z]*[A-Za-z%/0-9 .,]*", text.strip()):
        return None
    sign, digits, mark = found.groups()
    scale = MARKS[mark or ""]
    plain = digits.replace(",", "")
    places = len(plain.partition(".")[2])
    value = float(plain) * scale * (-1 if sign == "-" else 1)
    return value, (0.5 * 10.0**-places) * scale * 1.0001


def close(text: str, value: Any, scale: float = 1.0) -> bool:
    printed = number(text)
    if printed is None or isinstance(value, bool) or not isinstance(value, int | float):
        return text in ("-", "") or text == str(value)
    if "%" in text:
        scale = 1.0
    return abs(printed[0] * scale - value) <= printed[1] * scale + 1e-9 * abs(value)


def column_of(head: str, names: list[str]) -> tuple[str, float] | None:
    """Return the JSON column of a header of the page, and the amount of one of its numbers."""
    for name in names:
        whole = header(name)
        if whole == head:
            return name, SCALES[", %"] if whole.endswith(", %") else 1.0
        for end, scale in SCALES.items():
            if head.endswith(end) and whole == head.removesuffix(end) + ", USD":
                return name, scale
    return None


def strangers(text: str, document: dict[str, Any], result: Result) -> Iterator[str]:
    """Yield every number of the page that the document does not have."""
    reader = Reader()
    reader.feed(text)
    tables = {title_of(result.verb, name): table for name, table in document["tables"].items()}
    swings = {x.key: x for x in ranked(result)}
    for grid in reader.grids:
        rows = [row for row in grid.rows if row]
        if grid.quarter is not None:
            yield from _of_table(grid, rows, _in_quarter(document, grid))
        elif grid.caption in tables:
            yield from _of_table(grid, rows, tables[grid.caption])
        elif grid.caption == "Figures":
            yield from _of_figures(rows, document["metrics"])
        elif grid.caption == "Inputs":
            yield from _of_inputs(grid, rows, document["inputs"], swings)
        elif grid.caption == "Limits and their use":
            known = {json.dumps(row) for row in document["tables"]["checks"]["rows"]}
            values = [x for row in known for x in json.loads(row) if isinstance(x, int | float)]
            for row in rows:
                yield from (t for t, n in row if n and not any(close(t, v) for v in values))
        elif not grid.sorts:
            yield from _of_decision(rows, document)
    yield from _of_states(reader.states, document["tables"])
    values = [(m["value"], m["unit"]) for m in document["metrics"].values()]
    for tile in reader.tiles:
        fits = (close(tile.removesuffix(f" {unit}" if unit else ""), v) for v, unit in values)
        if not any(fits):
            yield f"tile {tile}"


STATES = {
    "Demand": "demand",
    "Who is served": "served_by",
    "Capacity by system": "fleet",
    "Power": "power",
}
"""Tables of the JSON behind those of a state."""


def _records(table: dict[str, Any]) -> list[dict[str, Any]]:
    names = [x["name"] for x in table["columns"]]
    return [dict(zip(names, row, strict=True)) for row in table["rows"]]


def _in_quarter(document: dict[str, Any], grid: Grid) -> dict[str, Any]:
    """Return the table of a state with the rows of its quarter."""
    table = document["tables"][STATES[grid.caption]]
    rows = [
        row
        for row, made in zip(table["rows"], _records(table), strict=True)
        if made["quarter"] == grid.quarter and made.get("average_accelerators") != 0
    ]
    assert len(rows) == sum(bool(row) for row in grid.rows)
    return {**table, "rows": rows}


def _of_states(tiles: list[tuple[str, str]], tables: dict[str, Any]) -> Iterator[str]:
    """Sums of a quarter, and what is paid up to it: payments and debt service less loans and sales."""
    paid = 0.0
    for quarter in dict.fromkeys(q for q, _ in tiles):
        rows = {
            name: [x for x in _records(tables[name]) if x["quarter"] == quarter]
            for name in ("power", "fleet", "cash_flow")
        }
        usd = sum(
            x[f"{group}_usd"] * (-1.0 if group == "debt_drawn" else 1.0)
            for x in rows["cash_flow"]
            for group in (
                "capex", "energy", "opex", "cloud", "sales", "debt_drawn", "debt_service",
            )
        )  # fmt: skip
        paid += usd
        used, limit = (sum(x[n] for x in rows["power"]) for n in ("facility_mw", "utility_mw"))
        sources = (
            *(usd, paid, used, limit, used / limit),
            sum(x["accelerators"] for x in rows["fleet"]),
        )
        for text in (t for q, t in tiles if q == quarter):
            for part in re.findall(r"-?[\d.,]+(?:\s?(?:k|M|bn|%)(?![A-Za-z]))?", text):
                if not any(close(part, x) for x in sources):
                    yield f"state in {quarter}: {text}"


def _of_table(grid: Grid, rows: list[Any], table: dict[str, Any]) -> Iterator[str]:
    names = [x["name"] for x in table["columns"]]
    for head_at, head in enumerate(grid.heads):
        found = column_of(head, names)
        if found is None:
            if any(row[head_at][1] for row in rows):
                yield f"{grid.caption}: no column {head}"
            continue
        name, scale = found
        for row, source in zip(rows, table["rows"], strict=False):
            text, right = row[head_at]
            if right and not close(text, source[names.index(name)], scale):
                yield f"{grid.caption}, {head}: {text} is not {source[names.index(name)]}"


def _of_figures(rows: list[Any], metrics: dict[str, Any]) -> Iterator[str]:
    for (key, _), *cells in rows:
        sources = [metrics[key].get(x) for x in ("value", "low", "high")]
        for text, right in cells:
            if right and not any(close(text, x) for x in sources):
                yield f"Figures, {key}: {text} is not {sources}"


def _of_inputs(grid: Grid, rows: list[Any], inputs: list[Any], swings: Any) -> Iterator[str]:
    known = {row["key"]: row for row in inputs}
    for (key, _), *cells in rows:
        swing = swings.get(key)
        more = () if swing is None else (swing.low, swing.high, swing.swing_usd)
        sources = [*(known[key].get(x) for x in ("value", "low", "high")), *more]
        scales = (1.0, *SCALES.values())
        for text, right in cells:
            if right and not any(close(text, x, s) for x in sources for s in scales):
                yield f"Inputs, {key}: {text} is not {sources}"


def _of_decision(rows: list[Any], document: dict[str, Any]) -> Iterator[str]:
    """Sums of the plan's own tables: cash by quarter, payments, purchases by item."""
    tables = {
        name: [dict(zip([c["name"] for c in t["columns"]], row, strict=True)) for row in t["rows"]]
        for name, t in document["tables"].items()
    }
    paid = [
        sum(row[f"{x}_usd"] for x in ("capex", "energy", "opex", "cloud"))
        for row in tables.get("cash_flow", [])
    ]
    bought: dict[Any, float] = {}
    counts: dict[Any, float] = {}
    for row in tables.get("purchases", []):
        key = row["vendor"], row["item"], row["unit"]
        bought[key] = bought.get(key, 0.0) + row["amount_usd"]
        counts[key] = counts.get(key, 0.0) + row["quantity"]
    left: dict[str, float] = {}
    for row in tables.get("flows", []):
        if row["group"] == "residual":
            left[row["falls"]] = left.get(row["falls"], 0.0) - row["usd"]
    cells = [x for r in tables.get("purchases", []) for x in r.values()]
    sources = [
        *(*paid, sum(paid), *left.values(), *counts.values()),
        *(*bought.values(), sum(bought.values()), *cells),
        *(m["value"] for m in document["metrics"].values()),
    ]
    for row in rows:
        for text, right in row:
            amount = re.match(r"[-+]?(?:USD )?[\d.,]+(?: (?:k|M|bn))?(?= |$)", text)
            if right and amount and not any(close(amount[0], x) for x in sources):
                yield f"decision: {text}"


@pytest.fixture(scope="module", params=["plan", "tco", "serve"])
def result(request: pytest.FixtureRequest) -> Result:
    if request.param == "plan":
        return planned("fleet-renewal")
    if request.param == "tco":
        return dcplan.tco("own-or-rent-1024-h200", sets=["sensitivity.samples=50"])
    return dcplan.serve(
        "llama-3.1-70b", system=["dgx-h100", "dgx-h200"], isl=1024, osl=256, rate=50
    )


def test_every_number_of_the_page_is_in_the_json(result: Result) -> None:
    document = json.loads(result.to_json())
    text = page(from_dict(document))
    assert list(strangers(text, document, result)) == []


def test_a_number_from_elsewhere_is_found(result: Result) -> None:
    """A changed digit in a cell, and in a tile."""
    document = json.loads(result.to_json())
    text = page(from_dict(document))
    cells = list(re.finditer(r'<td class="n">(\d[\d,.]*)</td>', text))
    assert len(cells) > 30
    at = cells[len(cells) // 2]
    changed = f"{text[: at.start(1)]}987654321{text[at.end(1) :]}"
    assert len(list(strangers(changed, document, result))) == 1
    tile = re.search(r'<div class="tile"><b>([^<]*)</b>', text)
    assert tile
    changed = f"{text[: tile.start(1)]}987,654,321{text[tile.end(1) :]}"
    assert len(list(strangers(changed, document, result))) == 1
