"""Files of a finished result: workbook, CSV tables, page, Markdown, purchase schedule, memo."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dcplan.specs.export import FOLDERS, OF_A_PLAN, SEVERAL, SUFFIX, Target

if TYPE_CHECKING:
    from dcplan.result import Result


FILES = frozenset({".csv", ".html", ".json", ".md", ".xlsx"})
"""Suffixes of files that verbs and ``export`` write, which the folder of exports cannot have."""


def targets_of(names: Iterable[str]) -> list[Target]:
    """Return the formats named in ``--export``, in order.

    Raises
    ------
    InputError
        When a format is not known, or its package is not installed.
    """
    from dcplan.errors import InputError, Place, Problem, did_you_mean

    found = []
    for name in names:
        if name not in SEVERAL:
            known = ", ".join(SEVERAL)
            cause = f"{name!r}: must be one of {known}"
            raise InputError(
                [Problem("DC050", cause, Place("--export"), did_you_mean(name, list(SEVERAL)))]
            )
        found.append(Target(name))
    if Target.PARQUET in found:
        from dcplan.report.parquet import refuse_without_pyarrow

        refuse_without_pyarrow("--export")
    return found


def folder_of(targets: list[Target], out: Path | None) -> Path | None:
    """Return the folder of ``--export``: that of ``--out``, else ``out``, which git ignores.

    Raises
    ------
    InputError
        When ``--out`` is a file, or has the name of one.
    """
    from dcplan.errors import InputError, Place, Problem

    if not targets:
        return None
    if out is not None and out.is_file():
        raise InputError(
            [Problem("DC050", f"{out} is a file: --export writes into a folder", Place("--out"))]
        )
    if out is not None and out.suffix.lower() in FILES and not out.is_dir():
        cause = f"{out} has the name of a file: with --export, --out is the folder of the exports"
        more = (
            f"give a folder: --out {out.with_suffix('')}; json in --export saves the answer in it"
        )
        raise InputError([Problem("DC050", cause, Place("--out"), help=more)])
    return out or Path("out")


def write_export(result: Result, target: Target, path: Path, others: Sequence[Result] = ()) -> str:
    """Write one format and return a note on the written files.

    ``path`` is a folder for CSV, Parquet and NetBox, else a file. ``others`` are answers on the same
    scenario, which a memo includes.

    Raises
    ------
    InputError
        When the result cannot become this format, or has no room for the other answers.
    OSError
        When the path cannot be written; no partial file is left.
    """
    from dcplan.errors import InputError, Place, Problem
    from dcplan.report.files import write_bytes, write_whole

    if others:
        refuse_answers([result], target)
    refuse_without_plan(result, target)
    try:
        if target is Target.CSV:
            return _csv(result, path)
        if target is Target.PARQUET:
            from dcplan.report.parquet import write_parquet

            return f"{write_parquet(result, path)} files in {path}"
        if target is Target.NETBOX:
            return _netbox(result, path)
        if target is Target.MEMO:
            return _memo(result, path, others)
        if target is Target.XLSX:
            from dcplan.report.book.write import workbook

            write_bytes(path, workbook(result))
        else:
            write_whole(path, _text(result, target, others))
        if target is Target.FOCUS:
            from dcplan.report.focus.export import VERSION

            return f"{path}: FOCUS {VERSION}, planned cost, not invoiced"
    except ValueError as error:
        verb = "tco" if result.verb == "tco" and target is not Target.FOCUS else "plan"
        help_text = f"dcplan {verb} FILE -f json -o RESULT"
        raise InputError(
            [Problem("DC050", str(error), Place(f"--to {target}"), help=help_text)]
        ) from error
    return f"{path}"


def refuse_without_plan(result: Result, target: Target) -> None:
    """Refuse a format that describes a plan where the answer of ``plan`` contains none.

    Raises
    ------
    InputError
        DC050 with the next step: a tested remedy, or the command that explains why there is none.
    """
    from dcplan.errors import InputError, Place, Problem
    from dcplan.report.text.next_steps import next_commands, scenario_words
    from dcplan.specs.no_plan import REMEDIES
    from dcplan.specs.plan.metrics import NPV

    if result.verb != "plan" or target not in OF_A_PLAN or NPV.key in result.metrics:
        return
    state = (
        "is infeasible" if result.status == "infeasible" else f"has no plan yet: {result.status}"
    )
    name = result.scenario.get("name") or "the scenario"
    steps = [f"{purpose}: {command}" for command, purpose in next_commands(result)]
    remedies = result.tables.get(REMEDIES.name)
    if remedies is not None and remedies.rows:
        first = REMEDIES.rows(remedies)[0]
        steps.insert(
            0, f"with {first.change}: dcplan plan {scenario_words(result)} {first.options}"
        )
    cause = f"{name} {state}, so there is nothing to write as {target}; its tables go to csv, md and html"
    raise InputError([Problem("DC050", cause, Place(f"--to {target}"), help="; ".join(steps))])


def refuse_answers(results: Sequence[Result], target: Target) -> None:
    """Refuse further answers that would have no effect.

    Raises
    ------
    InputError
        DC050 when the format is no memo and no page, or none of the results is a plan that was found.
    """
    from dcplan.errors import InputError, Place, Problem
    from dcplan.specs.plan.purchases import PURCHASES

    if target not in (Target.MEMO, Target.HTML):
        cause = f"{target} has no room for further answers: a memo and a page have"
    elif not any(x.verb == "plan" and PURCHASES.name in x.tables for x in results):
        kinds = " and ".join(f"{x.verb} with status {x.status}" for x in results)
        cause = f"further answers are for a plan that was found: this is {kinds}"
    else:
        return
    help_text = "leave out --with; each answer has a page of its own: dcplan report RESULT"
    raise InputError([Problem("DC050", cause, Place("--with"), help=help_text)])


def _text(result: Result, target: Target, others: Sequence[Result]) -> str:
    if target is Target.JSON:
        return result.to_json()
    if target is Target.FOCUS:
        from dcplan.report.focus.export import focus_csv

        return focus_csv(result)
    if target is Target.PURCHASES:
        return _purchases(result)
    if target is Target.MD:
        from dcplan.report.text.markdown import markdown

        return markdown(result)
    from dcplan.report.html.page import page

    return page(result, others)


def _csv(result: Result, folder: Path) -> str:
    from dcplan.report.csvs import csv_files
    from dcplan.report.datapackage import datapackage
    from dcplan.report.files import write_whole

    for name, lines in csv_files(result):
        write_whole(folder / name, lines)
    write_whole(folder / "datapackage.json", datapackage(result))
    return f"{len(result.tables) + 3} files in {folder}"


def _purchases(result: Result) -> str:
    from dcplan.report.csvs import table_csv
    from dcplan.specs.plan.purchases import PURCHASES

    table = result.tables.get(PURCHASES.name)
    if table is None:
        msg = (
            "only a plan that was found has a purchase schedule: this is "
            f"{result.verb} with status {result.status}"
        )
        raise ValueError(msg)
    return table_csv(table)


def _memo(result: Result, path: Path, others: Sequence[Result]) -> str:
    from dcplan.report.files import write_whole
    from dcplan.report.memo.content import memo
    from dcplan.report.memo.text import memo_html, memo_markdown

    made, page = memo(result, others), path.with_suffix(".html")
    write_whole(path, memo_markdown(made))
    write_whole(page, memo_html(made))
    return f"{path} and {page}"


def _netbox(result: Result, folder: Path) -> str:
    from dcplan.answers.fabric.inventory import inventory
    from dcplan.report.netbox import write_netbox

    count = write_netbox(result, inventory(result), folder, "dcplan")
    return f"{count:,} devices in {folder}: import the files in the order of their numbers"


def path_of(folder: Path, name: str, target: Target) -> Path:
    """Return the path of a format for ``--export``."""
    if target in FOLDERS:
        return folder / target
    return folder / f"{name}.{SUFFIX.get(target, target)}"


def export_all(result: Result, targets: list[Target], folder: Path) -> None:
    """Write every format into a folder.

    A line on stderr reports each format, including formats that this answer cannot have.
    """
    from dcplan.errors import InputError

    name = str(result.scenario.get("name") or result.verb)
    for target in targets:
        try:
            written = write_export(result, target, path_of(folder, name, target))
        except (
            InputError
        ) as error:  # this answer does not support the format; continue with the others
            sys.stderr.write("".join(f"not saved: {target}: {p.cause}\n" for p in error.problems))
            continue
        sys.stderr.write(f"saved to {written}\n")
