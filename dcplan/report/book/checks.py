"""Checks: identities, limits and expectations that an edit may break, and the plan's own figures
while none is made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dcplan.report.book.calc import Calc
from dcplan.report.book.cash import Live
from dcplan.report.book.grid import INPUT_ROW, NOWHERE
from dcplan.report.book.source import Source
from dcplan.report.book.writer import Writer, head

TOLERANCE = 1e-9
Check = tuple[str, str, str, float, float, str]
"""What, left and right as formulas and as numbers, and how they must stand: equal, most, least."""
HOW = {
    "equal": "ABS(B{0}-C{0})<={1:g}*MAX(1,ABS(C{0}))",
    "most": "B{0}<=C{0}+{1:g}*MAX(1,ABS(C{0}))",
    "least": "B{0}>=C{0}-{1:g}*MAX(1,ABS(C{0}))",
}


def checks_page(
    writer: Writer,
    source: Source,
    calc: Calc,
    metrics: Mapping[str, Live],
    places: Mapping[str, str],
) -> None:
    """Every check with both sides; the master check counts those that are not OK."""
    page = writer.sheets["Checks"]
    head(
        writer, page, "Checks", "Each says OK or CHECK; one CHECK anywhere turns the master check."
    )
    bold = writer.format(bold=True, bottom=1)
    for i, text in enumerate(("Check", "Left", "Right", "Holds")):
        page.write_string(4, i, text, bold)
    rows = [
        *_identities(calc),
        *_limits(calc),
        *_expected(source, metrics, places),
        *_stored(source, metrics, places),
    ]
    at = 5
    for label, left, right, first, second, how in rows:
        page.write_string(at, 0, label)
        page.write_formula(at, 1, left, writer.number("formula", "x"), first)
        page.write_formula(at, 2, right, writer.number("formula", "x"), second)
        text = HOW[how].format(at + 1, TOLERANCE)
        page.write_formula(
            at, 3, f'=IF({text},"OK","CHECK")', bold, "OK" if holds(first, second, how) else "CHECK"
        )
        at += 1
    red = writer.format(bg_color="#FFC7CE", font_color="#9C0006")
    page.conditional_format(
        5, 3, at, 3, {"type": "cell", "criteria": "==", "value": '"CHECK"', "format": red}
    )
    page.write_string(at + 1, 0, "All checks", bold)
    page.write_formula(
        at + 1, 3, f'=IF(COUNTIF(D6:D{at},"OK")=ROWS(D6:D{at}),"OK","CHECK")', bold, writer.verdict
    )
    writer.book.define_name("all_checks_ok", f"=Checks!$D${at + 2}")
    page.set_column(0, 0, 70)
    page.set_column(1, 3, 20)


def holds(left: float, right: float, how: str) -> bool:
    """Whether two figures stand as they must, to a part in a thousand million.

    Examples
    --------
    >>> holds(1.0, 1.0, "equal"), holds(1.1, 1.0, "most"), holds(1.1, 1.0, "least")
    (True, False, True)
    """
    room = TOLERANCE * max(1.0, abs(right))
    return {
        "equal": abs(left - right) <= room,
        "most": left <= right + room,
        "least": left >= right - room,
    }[how]


def _identities(calc: Calc) -> Iterator[Check]:
    """Groups sum to all payments; lines of the cost sheet too."""
    groups = [
        row
        for (name, key), row in calc.rows.items()
        if name.startswith("group ") and key == NOWHERE
    ]
    lines = [r for r in calc.cost.rows if r.series is not None and r.unit == "USD" and r.key[2]]
    text = " + ".join(r.cell() for r in groups)
    whole = " + ".join(r.cell() for r in lines) or "0"
    value = sum(r.value for r in groups)
    yield (
        "groups of the cash flow sum to the lines of cost",
        f"={text}",
        f"={whole}",
        value,
        sum(r.value for r in lines),
        "equal",
    )


def _limits(calc: Calc) -> Iterator[Check]:
    """Limits of halls, sites and budget: quarters in which a live row is above its limit."""
    for label, since, row, limit in calc.limits:
        until, most = len(limit.values), limit.values[since:]
        span = limit.span(until, since)
        text = f"=SUMPRODUCT(({row.span(until, since)}>{span}*(1+{TOLERANCE:g})+{TOLERANCE:g})*1)"
        many = float((row.values[since:until] - most > TOLERANCE * (1.0 + most)).sum())
        yield f"quarters in which {label} is above its limit", text, "=0", many, 0.0, "most"


def _expected(
    source: Source, metrics: Mapping[str, Live], places: Mapping[str, str]
) -> Iterator[Check]:
    """Expectations of the scenario on live metrics; a warning does not turn the master check."""
    for e in source.result.expectations:
        key = str(e["metric"])
        if e["severity"] != "error" or e["passed"] is None or key not in places:
            continue
        for name, how in (("min", "least"), ("max", "most"), ("equals", "equal")):
            limit = e.get(name)
            if isinstance(limit, int | float):
                yield (
                    f"expected: {e['id']}: {key} {name} {limit:g}",
                    f"={places[key]}",
                    f"={float(limit)!r}",
                    metrics[key].value,
                    float(limit),
                    how,
                )


def _stored(
    source: Source, metrics: Mapping[str, Live], places: Mapping[str, str]
) -> Iterator[Check]:
    """While no input is changed every live figure is the plan's."""
    last = INPUT_ROW - 1 + len(source.result.inputs)
    for key, place in places.items():
        stored = float(source.result.metrics[key].value or 0.0)
        yield (
            f"{key} is the plan's, unless an input is changed",
            f"={place}",
            f'=IF(COUNTIF(Inputs!$J${INPUT_ROW}:$J${last},"changed")>0,{place},{stored!r})',
            metrics[key].value,
            stored,
            "equal",
        )
