"""``dcplan init``."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from dcplan.cli import complete
from dcplan.cli.options import DebugOption

STARTER = "starter"


class Service(StrEnum):
    """CI services with a workflow."""

    GITHUB = "github"
    GITLAB = "gitlab"


WORKFLOWS = {Service.GITHUB: ".github/workflows/dcplan.yml", Service.GITLAB: ".gitlab-ci.yml"}
SCENARIO, SCHEMA = "scenarios/{name}.yaml", "schemas/scenario.json"
MODELINE = "# yaml-language-server: $schema=../schemas/scenario.json\n"


def init(
    folder: Annotated[
        Path, typer.Argument(metavar="[DIR]", help="where to write; left out: here")
    ] = Path(),
    example: Annotated[
        str,
        typer.Option(
            "--example",
            metavar="NAME",
            help="start from this packaged example",
            autocompletion=complete.examples,
        ),
    ] = STARTER,
    ci: Annotated[
        Service | None, typer.Option("--ci", help="a workflow for github or gitlab besides")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="write over files that are there")] = False,
    debug: DebugOption = False,
) -> None:
    """Write a commented scenario to start from, its schema for editors, and a CI workflow."""
    import json

    from dcplan.answers.reference.schema import schema
    from dcplan.cli.output import check_writable
    from dcplan.errors import InputError, Place, Problem, did_you_mean
    from dcplan.report.files import write_whole
    from dcplan.scenario.load import packaged_file

    source = packaged_file(example)
    if source is None:
        hint, help_text = (
            did_you_mean(example, complete.examples("")),
            "dcplan init --example NAME; your own file needs no copy",
        )
        raise InputError(
            [
                Problem(
                    "DC006", f"no packaged example {example!r}", Place("--example"), hint, help_text
                )
            ]
        )
    texts = {
        SCENARIO.format(name=source.stem): MODELINE + source.read_text(encoding="utf-8"),
        SCHEMA: json.dumps(schema("scenario"), indent=1, sort_keys=True) + "\n",
    }
    if ci is not None:
        texts[WORKFLOWS[ci]] = template(ci)
    there = [name for name in texts if (folder / name).exists()]
    if there and not force:
        help_text = "--force writes over them, or name another folder"
        problems = [
            Problem("DC006", "the file is there already", Place(str(folder / x)), help=help_text)
            for x in there
        ]
        raise InputError(problems)
    for name in texts:
        check_writable(folder / name)
    for name, text in texts.items():
        write_whole(folder / name, text)
        sys.stdout.write(f"wrote {folder / name}\n")
    sys.stdout.write(f"next: dcplan plan {folder / SCENARIO.format(name=source.stem)}\n")


def template(service: Service) -> str:
    """Text of a workflow."""
    from importlib.resources import files

    return (files("dcplan.cli") / "templates" / f"{service.value}.yml").read_text(encoding="utf-8")
