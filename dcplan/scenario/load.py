"""Load a scenario file: validated :class:`Scenario`, the place of every value, and its catalog."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path as File
from typing import Any

from pydantic import ValidationError

from dcplan.catalog.explain_validation import problems_of
from dcplan.catalog.loader import Catalog
from dcplan.catalog.loader import load as load_catalog
from dcplan.catalog.locate import data_dir
from dcplan.catalog.yaml12 import Document, parse, read_text
from dcplan.errors import InputError, Place, Problem, did_you_mean
from dcplan.provenance import Status, sealed
from dcplan.scenario.checks.prices import price_changes
from dcplan.scenario.checks.references import check_references
from dcplan.scenario.fx import in_usd
from dcplan.scenario.names import unknown_names, wrong_lengths
from dcplan.scenario.schema import Scenario
from dcplan.scenario.series import expanded
from dcplan.scenario.tree import Tree, changed, merged, set_document

HELP = "dcplan schema scenario"


@dataclass(frozen=True)
class Question:
    """A loaded scenario with its catalog and its origins."""

    scenario: Scenario
    catalog: Catalog
    file: File
    tree: Tree = field(repr=False)
    variant: str | None = None
    digest: str = ""
    sets: tuple[str, ...] = ()
    """Changes of the command line, as typed."""
    listed: Catalog | None = field(default=None, repr=False)
    """Catalog without the scenario's own prices."""

    @property
    def folder(self) -> File:
        """Folder of the scenario file; paths inside the file are relative to it."""
        return self.file.parent

    def at(self, *path: str | int) -> str:
        """``file:line:col`` of a value."""
        return str(self.tree.place(path))


def project_root(file: File) -> File:
    """Nearest folder above a file that holds ``.git`` or ``dcplan.toml``; else the file's own
    folder.
    """
    folder = file.resolve().parent
    for parent in (folder, *folder.parents):
        if (parent / ".git").exists() or (parent / "dcplan.toml").exists():
            return parent
    return folder


def inside_project(file: File, relative: str, problem: Problem) -> File:
    """Resolve a path named in a scenario; it must stay inside the project.

    Raises
    ------
    InputError
        With the given problem if the path leaves the project.
    """
    target = (file.parent / relative).resolve()
    if not target.is_relative_to(project_root(file)):
        raise InputError([problem])
    return target


def packaged_file(name: str) -> File | None:
    """Return a packaged example by its name, only from the folder of examples."""
    examples = data_dir("scenarios")
    file = examples / (name if name.endswith(".yaml") else f"{name}.yaml")
    return file if file.is_file() and file.resolve().is_relative_to(examples.resolve()) else None


def find_file(name: str) -> File:
    """Find a scenario by path, or by the name of a packaged example.

    Raises
    ------
    InputError
        DC006 with the nearest existing name.
    """
    file = File(name)
    if file.is_file():
        return file
    packaged = packaged_file(name)
    if packaged is not None:
        return packaged
    examples = data_dir("scenarios")
    near = [str(p) for p in file.parent.glob("*.yaml")] if file.parent.is_dir() else []
    known = [*near, *(p.stem for p in examples.glob("*.yaml"))]
    hint = did_you_mean(name, known)
    help_text = "dcplan check NAME reads a file or a packaged example: " + ", ".join(
        sorted(p.stem for p in examples.glob("*.yaml"))
    )
    raise InputError([Problem("DC006", "no such scenario file", Place(name), hint, help_text)])


def load(
    name: str, *, variant: str | None = None, sets: Sequence[str] = (), catalogs: Sequence[str] = ()
) -> Question:
    """Read, merge, override and validate a scenario; report all errors at once.

    Parameters
    ----------
    name : str
        Path of the file, or the name of a packaged example.
    variant : str, optional
        A name in ``scenarios:``; its overrides are applied in order.
    sets : sequence of str
        ``key=value`` texts, which are applied last.
    catalogs : sequence of str
        Overlay folders; a later folder overrides an earlier one.

    Raises
    ------
    InputError
        With all problems found.
    """
    file = find_file(name)
    tree = _extended(file, ())
    tree = _varied(tree, variant)
    for text in sets:
        key, document = set_document(text)
        tree = changed(tree, key, Tree.of(document))
    scenario = _validated(tree, catalogs)
    own = [_overlay_folder(file, tree, scenario, i) for i in range(len(scenario.catalogs))]
    catalog = listed = load_catalog((*own, *(File(c) for c in catalogs)))
    changes, problems = price_changes(scenario, catalog, tree)
    if not problems:
        document, base = _prices_document(tree)
        catalog = catalog.overlaid(changes, document, base) if changes else catalog
    problems += check_references(scenario, catalog, tree)
    if problems:
        raise InputError(problems)
    digest = hashlib.sha256(json.dumps(tree.data, sort_keys=True, default=str).encode()).hexdigest()
    return Question(scenario, catalog, file, tree, variant, digest, tuple(sets), listed)


def _prices_document(tree: Tree) -> tuple[Document, tuple[str, ...]]:
    class _Locator(Document):
        def place(self, path: tuple[str | int, ...], *, key: bool = False) -> Place:
            document, where = tree.origin(path)
            return document.place(where, key=key)

        def problem(self, code: str, cause: str, path: tuple[str | int, ...], **kw: Any) -> Problem:
            return tree.problem(code, cause, path, **kw)

    return _Locator("", None), ("prices",)


def _overlay_folder(file: File, tree: Tree, scenario: Scenario, i: int) -> File:
    cause = f"catalogs: {scenario.catalogs[i]} leaves the project"
    return inside_project(file, scenario.catalogs[i], tree.problem("DC008", cause, ("catalogs", i)))


def _extended(file: File, chain: tuple[File, ...]) -> Tree:
    document = parse(read_text(file), str(file))
    tree = Tree.of(document)
    if not isinstance(document.data, dict):
        raise InputError(
            [document.problem("DC004", "expected a mapping with `dcplan: 1` first", ())]
        )
    base = document.data.get("extends")
    if not isinstance(base, str):
        return tree
    target = inside_project(
        file, base, document.problem("DC008", f"extends: {base} leaves the project", ("extends",))
    )
    if target in (*chain, file.resolve()):
        raise InputError(
            [document.problem("DC016", f"extends: {base} returns to this file", ("extends",))]
        )
    return merged(_extended(target, (*chain, file.resolve())), tree)


def _varied(tree: Tree, variant: str | None) -> Tree:
    if variant is None:
        return tree
    named = tree.data.get("scenarios") or {}
    patches = tree.data.get("overrides") or {}
    if not isinstance(named, dict) or not isinstance(patches, dict):
        return tree  # the schema check reports the error
    if variant not in named:
        cause = f"`scenarios:` has no scenario {variant!r}"
        hint = did_you_mean(variant, named)
        raise InputError(
            [
                tree.problem(
                    "DC013", cause, ("scenarios",), hint=hint, help="dcplan check FILE lists them"
                )
            ]
        )
    if not isinstance(named[variant], list) or not all(isinstance(x, str) for x in named[variant]):
        return tree
    problems = []
    touched: dict[str, str] = {}
    for i, patch in enumerate(named[variant]):
        if not isinstance(patches.get(patch), dict):
            cause = f"scenarios.{variant}: `overrides:` has no override {patch!r}"
            hint = did_you_mean(str(patch), patches)
            problems.append(tree.problem("DC013", cause, ("scenarios", variant, i), hint=hint))
            continue
        for key in patches[patch]:
            if key in touched:
                cause = f"overrides.{patch}: {key} is already set by {touched[key]!r} in scenario {variant!r}"
                problems.append(tree.problem("DC015", cause, ("overrides", patch, key), key=True))
                continue
            touched[key] = patch
            try:
                tree = changed(tree, key, tree.part(("overrides", patch, key)))
            except InputError as error:
                problems += error.problems
    if problems:
        raise InputError(problems)
    return tree


def _validated(tree: Tree, catalogs: Sequence[str]) -> Scenario:
    converted, problems = in_usd(tree)
    if problems:
        raise InputError(problems)
    tree.data = converted.data

    def locate(path: tuple[str | int, ...]) -> str:
        return str(tree.place(path))

    data, problems = expanded(tree.data, tree, locate)
    try:
        scenario = Scenario.model_validate(data)
    except ValidationError as error:
        problems += problems_of(error, tree, Scenario, help=HELP)
        catalog = load_catalog(tuple(File(c) for c in catalogs))
        raise InputError(
            [*problems, *unknown_names(tree, catalog), *wrong_lengths(tree)]
        ) from error
    if problems:
        raise InputError(problems)
    result: Scenario = sealed(scenario, status=Status.INPUT, locate=locate)
    return result
