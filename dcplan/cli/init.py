"""``dcplan init``."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from dcplan.cli import complete
from dcplan.cli.command import command
from dcplan.specs.request import Flag

if TYPE_CHECKING:
    from dcplan.answers.reference.first_scenario import FirstAnswers
    from dcplan.catalog.loader import Catalog

STARTER = "starter"
ANSWERS = ("location", "power_mw", "run", "when", "budget_usd")
"""Fields of the request that are answers of a first scenario."""


class Service(StrEnum):
    """CI services with a workflow."""

    GITHUB = "github"
    GITLAB = "gitlab"


WORKFLOWS = {Service.GITHUB: ".github/workflows/dcplan.yml", Service.GITLAB: ".gitlab-ci.yml"}
SCENARIO, SCHEMA = "scenarios/{name}.yaml", "schemas/scenario.json"
MODELINE = "# yaml-language-server: $schema=../schemas/scenario.json\n"


@dataclass(frozen=True)
class InitRequest:
    """A folder for a new project."""

    folder: Annotated[
        Path, Flag("target folder (default: the current folder)", metavar="[DIR]", argument=True)
    ] = Path()
    example: Annotated[
        str | None,
        Flag(
            "packaged example to start from; without it, a terminal asks five questions",
            metavar="NAME",
            complete="examples",
        ),
    ] = None
    name: Annotated[str, Flag("name of the plan that the answers describe", metavar="NAME")] = (
        "my-plan"
    )
    location: Annotated[
        str | None, Flag("answer: catalog id of the site", metavar="SITE", complete="sites")
    ] = None
    power_mw: Annotated[str | None, Flag("answer: firm power of the site", unit="MW")] = None
    run: Annotated[
        str | None,
        Flag("answer: 'train MODEL TOKENS' or 'serve MODEL REQUESTS_PER_S'", metavar="TEXT"),
    ] = None
    when: Annotated[
        str | None,
        Flag(
            "answer: quarter in which a run ends, or from which a service runs", metavar="QUARTER"
        ),
    ] = None
    budget_usd: Annotated[str | None, Flag("answer: cash over the plan", unit="USD")] = None
    ci: Annotated[Service | None, Flag("also write a CI workflow for github or gitlab")] = None
    force: Annotated[bool, Flag("overwrite existing files")] = False


@command
def init(request: InitRequest) -> None:
    """Write a first scenario, its JSON Schema for editors and a CI workflow.

    On a terminal it asks for site, power, what runs, when and budget. Flags give the same answers
    in a script; --example starts from a packaged example instead.
    """
    import json

    from dcplan.answers.reference.schema import schema
    from dcplan.cli.output import check_writable
    from dcplan.errors import InputError, Place, Problem
    from dcplan.report.files import write_whole

    folder, ci = request.folder, request.ci
    stem, text = _scenario(request)
    texts = {
        SCENARIO.format(name=stem): MODELINE + text,
        SCHEMA: json.dumps(schema("scenario"), indent=1, sort_keys=True) + "\n",
    }
    if ci is not None:
        texts[WORKFLOWS[ci]] = template(ci)
    there = [name for name in texts if (folder / name).exists()]
    if there and not request.force:
        help_text = "use --force to overwrite it, or a different folder"
        problems = [
            Problem("DC006", "the file already exists", Place(str(folder / x)), help=help_text)
            for x in there
        ]
        raise InputError(problems)
    for name in texts:
        check_writable(folder / name)
    for name, text in texts.items():
        write_whole(folder / name, text)
        sys.stdout.write(f"saved {folder / name}\n")
    sys.stdout.write(f"next: dcplan plan {folder / SCENARIO.format(name=stem)}\n")


def _scenario(request: InitRequest) -> tuple[str, str]:
    """Return the name and the text of the scenario: an example, or one from answers."""
    given = {name: getattr(request, name) for name in ANSWERS}
    flags = {name: text for name, text in given.items() if text is not None}
    asks = request.example is None and not flags and sys.stdin.isatty() and sys.stdout.isatty()
    if flags and request.example is not None:
        from dcplan.errors import InputError, Place, Problem

        named = ", ".join(f"--{name.replace('_', '-')}" for name in flags)
        cause = f"an example has its own values, and {named} would have no effect"
        raise InputError([Problem("DC015", cause, Place("--example"))])
    if not flags and not asks:
        return _example(request.example or STARTER)
    from dcplan.answers.reference.first_scenario import first_scenario
    from dcplan.catalog.loader import load

    catalog, first = load(), _next_quarter()
    answers = _asked(catalog, first) if asks else _checked(flags, catalog, first)
    return request.name, first_scenario(request.name, answers, catalog, first)


def _example(name: str) -> tuple[str, str]:
    """Return a packaged example."""
    from dcplan.errors import InputError, Place, Problem, did_you_mean
    from dcplan.scenario.load import packaged_file

    source = packaged_file(name)
    if source is None:
        hint = did_you_mean(name, complete.examples(""))
        help_text = "dcplan init --example NAME; a file of your own needs no init"
        cause = f"no packaged example {name!r}"
        raise InputError([Problem("DC006", cause, Place("--example"), hint, help_text)])
    return source.stem, source.read_text(encoding="utf-8")


def _next_quarter() -> str:
    """Return the quarter after the present one, in which a plan can begin."""
    import datetime as dt

    from dcplan.units import quarter_index, quarter_name

    today = dt.datetime.now(tz=dt.UTC)
    return quarter_name(quarter_index(f"{today.year}-Q{(today.month + 2) // 3}") + 1)


def _checked(flags: dict[str, str], catalog: Catalog, first: str) -> FirstAnswers:
    """Return the answers of the flags, and the defaults of the others.

    Raises
    ------
    InputError
        With every wrong answer.
    """
    from dcplan.answers.reference.first_scenario import FirstAnswers, checked_answer
    from dcplan.errors import InputError, Problem

    found, problems = {}, list[Problem]()
    for name, text in flags.items():
        try:
            found[name] = checked_answer(name, text, catalog, first)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return FirstAnswers(**found)


def _asked(catalog: Catalog, first: str) -> FirstAnswers:
    """Ask every question on the terminal; a wrong answer is asked again."""
    import typer

    from dcplan.answers.reference.first_scenario import QUESTIONS, FirstAnswers, checked_answer
    from dcplan.errors import InputError
    from dcplan.units import quarter_index, quarter_name

    defaults = {name: getattr(FirstAnswers(), name) for name in QUESTIONS}
    defaults["when"] = quarter_name(quarter_index(first) + 3)
    found = {}
    for name, question in QUESTIONS.items():

        def value(text: str, name: str = name) -> str:
            try:
                return checked_answer(name, text, catalog, first)
            except InputError as error:
                (problem,) = error.problems
                parts = (problem.cause, problem.hint, problem.help)
                raise typer.BadParameter("; ".join(x for x in parts if x)) from error

        found[name] = typer.prompt(
            question, default=defaults[name], value_proc=value, show_default=bool(defaults[name])
        )
    return FirstAnswers(**found)


def template(service: Service) -> str:
    """Return the text of a workflow, which installs the version that wrote it."""
    from importlib.resources import files

    from dcplan import __version__

    text = (files("dcplan.cli") / "templates" / f"{service.value}.yml").read_text(encoding="utf-8")
    return text.replace("VERSION", __version__)
