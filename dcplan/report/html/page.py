"""One page of a result: the answer first, then its basis; the page loads no other file."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from jinja2 import Environment, PackageLoader
from markupsafe import Markup, escape

from dcplan.report.book.influence import Influence
from dcplan.report.html.canvas import Chart
from dcplan.report.html.facts import (
    TitledView,
    assumptions,
    binding,
    facts,
    limits,
    ranked_note,
    titled,
)
from dcplan.report.html.figures import DECISION, figures_of, ranked
from dcplan.report.html.states import states_of
from dcplan.report.memo.blocks import Block
from dcplan.report.memo.content import memo
from dcplan.report.memo.text import with_code
from dcplan.report.text.headings import label_of, title_of
from dcplan.report.text.markdown import verdict
from dcplan.report.text.numbers import in_order, more_rows, printable, shown
from dcplan.result import Metric, Result, Table
from dcplan.specs import registry
from dcplan.specs.plan.purchases import PURCHASES
from dcplan.specs.table import Section, Shown

DATE = re.compile(r"\d{4}-(\d\d(-\d\d)?|Q\d)")


@dataclass(frozen=True)
class Part:
    """A section: pictures, then tables."""

    title: str
    note: str = ""
    charts: tuple[Chart, ...] = ()
    tables: tuple[TitledView, ...] = field(default_factory=tuple)

    @property
    def anchor(self) -> str:
        """Its name in the page."""
        return "".join(c if c.isalnum() else "-" for c in self.title.casefold())


def page(result: Result, others: Sequence[Result] = ()) -> str:
    """Return the whole report as HTML.

    Parameters
    ----------
    others : sequence of Result
        Answers of ``explain`` and ``tco`` on the same scenario, for the decision of a plan.

    Raises
    ------
    ValueError
        When another answer is on another scenario.
    """
    inputs = ranked(result)
    figures = figures_of(result, inputs)
    parts = [part for part in _parts(result, figures, inputs) if part.charts or part.tables]
    return (
        templates()
        .get_template("page.html")
        .render(
            name=str(result.scenario.get("name") or result.verb),
            headline=result.headline,
            status=result.status,
            decision=_decision(result, others),
            decision_charts=figures.get(DECISION, ()),
            tiles=[(label, shown(key, m.value), m.unit) for label, key, m in _main(result)],
            expectations=[
                (verdict(e), e.get("id") or "", e["metric"], e.get("note") or "")
                for e in result.expectations
            ],
            warnings=[str(w["message"]) for w in result.warnings],
            states=states_of(result),
            parts=parts,
            limits=limits(result),
            facts=facts(result),
            command=_command(result),
        )
    )


def templates() -> Environment:
    """Return the templates of the pages; they escape every text."""
    loader = Environment(
        loader=PackageLoader("dcplan.report.html", "."),
        autoescape=True,
        finalize=_plain,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    loader.filters["svg"] = Markup  # pictures of our own, their text escaped
    loader.filters["code"] = _with_code
    loader.filters["more_rows"] = more_rows
    loader.filters["whole_dates"] = _whole_dates
    return loader


def _whole_dates(text: str) -> Markup:
    """Return a cell whose dates do not break at their hyphens; its text is escaped."""
    return Markup(DATE.sub(r'<span class="date">\g<0></span>', str(escape(printable(text)))))  # noqa: S704 - escaped


def _with_code(text: str) -> Markup:
    """Return a sentence with its commands as code; its text is escaped."""
    return Markup(with_code(text))  # noqa: S704 - escaped


def _decision(
    result: Result, others: Sequence[Result]
) -> tuple[tuple[str, tuple[Block, ...]], ...]:
    """Return the parts of the decision of a plan: money and dates, purchases, alternatives, risks."""
    if result.verb != "plan" or PURCHASES.name not in result.tables:
        return ()
    return memo(result, others).parts


def _plain(cell: object) -> object:
    """Text of the result without control characters; pictures as they are."""
    return printable(cell) if isinstance(cell, str) and not isinstance(cell, Markup) else cell


def _parts(
    result: Result, found: Mapping[str, tuple[Chart, ...]], inputs: Sequence[Influence]
) -> Iterable[Part]:
    specs = registry.tables(result.verb)
    by_section: dict[Section, list[str]] = {section: [] for section in Section}
    for name, spec in specs.items():
        if name in result.tables and result.tables[name].rows and spec.shown is not Shown.DATA:
            by_section[spec.section].append(name)
    for section in (Section.ORDERS, Section.COST, Section.RISK, Section.LIMITS, Section.DESIGN):
        yield _part(result, section, by_section[section], found)
    note = (
        "Limits that the audited plan uses to 99% or more. "
        "`dcplan explain` gives the value of one more unit of each."
    )
    yield Part("Fully used limits", note, (), binding(result))
    pictures = found.get("influence", ())
    yield Part(
        "Assumptions by influence", ranked_note(result), pictures, (assumptions(result, inputs),)
    )
    for section in (Section.OTHER, Section.EXCLUDED):
        yield _part(result, section, by_section[section], found)
    figures = [
        (k, m.value, m.low, m.high, m.unit, m.label) for k, m in in_order(result.metrics).items()
    ]
    yield Part(
        "All figures",
        "",
        (),
        (
            titled(
                "Figures",
                Table(("metric", "value", "low", "high", "unit", "meaning"), tuple(figures)),
            ),
        ),
    )


def _part(
    result: Result, section: Section, names: Sequence[str], found: Mapping[str, tuple[Chart, ...]]
) -> Part:
    tables = tuple(titled(title_of(result.verb, n), result.tables[n]) for n in names)
    return Part(section.value, "", found.get(section, ()), tables)


def _main(result: Result) -> list[tuple[str, str, Metric]]:
    """Return the main metrics of an answer that say something."""
    return [
        (label_of(spec, m), key, m)
        for key, m in result.metrics.items()
        if (spec := registry.metric_of(result.verb, key)) is not None
        and spec.main
        and m.value not in (None, 0)
    ]


def _command(result: Result) -> str:
    if not result.scenario.get("path") or result.verb not in ("plan", "tco", "explain"):
        return ""  # flags of other answers are not kept
    words = ["dcplan", result.verb, str(result.scenario["path"])]
    if result.scenario.get("variant"):
        words += ["--variant", str(result.scenario["variant"])]
    for change in result.scenario.get("sets") or ():
        words += ["--set", str(change)]
    return shlex.join([w for w in words if w])
