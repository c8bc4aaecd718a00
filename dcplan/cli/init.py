"""``dcplan init``."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from dcplan.cli import complete
from dcplan.cli.command import command
from dcplan.specs.request import Flag

STARTER = "starter"


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
        str, Flag("packaged example to start from", metavar="NAME", complete="examples")
    ] = STARTER
    ci: Annotated[Service | None, Flag("also write a CI workflow for github or gitlab")] = None
    force: Annotated[bool, Flag("overwrite existing files")] = False


@command
def init(request: InitRequest) -> None:
    """Write a starter scenario, its JSON Schema for editors and a CI workflow."""
    import json

    from dcplan.answers.reference.schema import schema
    from dcplan.cli.output import check_writable
    from dcplan.errors import InputError, Place, Problem, did_you_mean
    from dcplan.report.files import write_whole
    from dcplan.scenario.load import packaged_file

    folder, example, ci = request.folder, request.example, request.ci
    source = packaged_file(example)
    if source is None:
        hint, help_text = (
            did_you_mean(example, complete.examples("")),
            "dcplan init --example NAME; a file of your own needs no init",
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
    sys.stdout.write(f"next: dcplan plan {folder / SCENARIO.format(name=source.stem)}\n")


def template(service: Service) -> str:
    """Return the text of a workflow, which installs the version that wrote it."""
    from importlib.resources import files

    from dcplan import __version__

    text = (files("dcplan.cli") / "templates" / f"{service.value}.yml").read_text(encoding="utf-8")
    return text.replace("VERSION", __version__)
