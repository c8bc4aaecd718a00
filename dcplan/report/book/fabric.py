"""Calc_Fabric: price and power of every piece, what each hall's fabric draws, and what is bought."""

from __future__ import annotations

from collections import defaultdict

from dcplan.report.book.calc import Calc, times
from dcplan.report.book.grid import Key, summed, total
from dcplan.report.book.source import halls


def fabric_sheet(c: Calc) -> None:
    """Price and power of every piece; what each hall's switches and optics draw and what is
    bought.
    """
    sheet, source = c.fabric, c.source
    by_hall: dict[str, list[Key]] = defaultdict(list)
    for key, facts in source.facts.items():
        if "kw" in facts and key[0] in halls(source):
            by_hall[key[0]].append(key)
    for hall in halls(source):
        sheet.heading(hall)
        kw, usd = [], []
        for key in by_hall[hall]:
            c.write_facts(sheet, key, ("usd", "kw"))
        for key in by_hall[hall]:
            n, bought = c.decision("pieces", key), c.decision("pieces bought", key)
            each, price = c.fact("kw", key), c.fact("usd", key)
            kw.append(
                sheet.line("power", key, "kW", n.values * each.value, times(n, each), total=False)
            )
            usd.append((bought, price, key))
        bills = [sheet.line("bought", k, "USD", b.values * p.value, times(b, p)) for b, p, k in usd]
        key = (hall, "", "")
        c.keep(
            "network kW",
            key,
            sheet.line(
                "power of the fabric", key, "kW", total(kw, source.length), summed(kw), total=False
            ),
        )
        c.keep(
            "network usd",
            key,
            sheet.line("fabric bought", key, "USD", total(bills, source.length), summed(bills)),
        )
