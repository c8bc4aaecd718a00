"""Calc_Fabric: price and power of every piece, power by hall, and purchases."""

from __future__ import annotations

from dcplan.report.book.calc import Calc
from dcplan.report.book.grid import total
from dcplan.report.book.source import halls


def fabric_sheet(c: Calc) -> None:
    """Write the pieces of each hall's fabric, their power, and the cost of those bought."""
    sheet = c.fabric
    for hall in halls(c.source):
        sheet.heading(hall)
        pieces = [k for k, facts in c.source.facts.items() if k[0] == hall and "kw" in facts]
        for key in pieces:
            c.write_facts(sheet, key, ("usd", "kw"))
        powers, bills = [], []
        for key in pieces:
            count, bought = c.decision("pieces", key), c.decision("pieces bought", key)
            powers.append(sheet.line("power", key, "kW", count * c.fact("kw", key), total=False))
            bills.append((key, bought * c.fact("usd", key)))
        paid = [sheet.line("bought", key, "USD", bill) for key, bill in bills]
        key = (hall, "", "")
        c.keep(
            "network kW", sheet.line("power of the fabric", key, "kW", total(powers), total=False)
        )
        c.keep("network usd", sheet.line("fabric bought", key, "USD", total(paid)))
