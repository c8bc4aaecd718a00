"""Completions for a shell: files, examples, catalog ids and names; does not load the catalog."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

ID = re.compile(r"^  - (?:\{ ?)?id: ([\w.-]+)", re.MULTILINE)


def scenarios(incomplete: str) -> list[str]:
    """Return packaged examples, and YAML files and folders that match the typed text."""
    from dcplan.catalog.locate import data_dir

    root = data_dir("scenarios")
    named = [
        str(f.relative_to(root).with_suffix(""))
        for f in (*root.glob("*.yaml"), *root.glob("cases/*.yaml"))
    ]
    return [
        *_files(incomplete, (".yaml", ".yml")),
        *sorted(n for n in named if n.startswith(incomplete)),
    ]


def models(incomplete: str) -> list[str]:
    """Return catalog models, and JSON and YAML files that match the typed text."""
    return [*_files(incomplete, (".json", ".yaml", ".yml")), *ids("models")(incomplete)]


def results(incomplete: str) -> list[str]:
    """Return folders and JSON files, which hold saved results, that match the typed text."""
    return _files(incomplete, (".json",))


def ids(kind: str) -> Callable[[str], list[str]]:
    """Return the completer of the ids of a catalog kind."""

    def find(incomplete: str) -> list[str]:
        return sorted(x for x in _ids(kind) if x.startswith(incomplete))

    return find


def kinds(incomplete: str) -> list[str]:
    """Return catalog kinds."""
    from dcplan.catalog.schema import KINDS

    return [x for x in KINDS if x.startswith(incomplete)]


def rows(incomplete: str) -> list[str]:
    """Return catalog kinds; after the first letter, also the ids of all kinds."""
    found = kinds(incomplete)
    named = {x for kind in kinds("") for x in _ids(kind)} if incomplete else set()
    return [*found, *sorted(x for x in named if x.startswith(incomplete))]


def examples(incomplete: str) -> list[str]:
    """Return packaged examples only."""
    return [x for x in scenarios(incomplete) if not x.endswith((".yaml", ".yml", "/"))]


def among(choices: Sequence[str]) -> Callable[[str], list[str]]:
    """Return the completer of a flag with a list of choices."""
    return lambda incomplete: [x for x in choices if x.startswith(incomplete)]


def explainable(incomplete: str) -> list[str]:
    """Return scenarios; after the first letter, also metrics, columns and error codes."""
    found = scenarios(incomplete)
    if not incomplete or "/" in incomplete:
        return found
    from dcplan.answers.reference.columns import columns
    from dcplan.answers.reference.metrics import metrics
    from dcplan.errors import CODES

    named = {*(m.key for m in metrics()), *(c.column for c in columns()), *CODES}
    return [
        *found,
        *sorted(x for x in named if x.startswith(incomplete) and "<" not in x and "," not in x),
    ]


def of(what: str) -> Callable[[str], list[str]]:
    """Return the completer that a flag names, by default the ids of a catalog kind."""
    known: dict[str, Callable[[str], list[str]]] = {
        "scenarios": scenarios,
        "results": results,
        "models": models,
        "kinds": kinds,
        "rows": rows,
        "examples": examples,
        "explainable": explainable,
    }
    return known.get(what) or ids(what)


def _ids(kind: str) -> Iterator[str]:
    """Find the ids of a kind; a file may hold several kinds, each under its own key."""
    from dcplan.catalog.locate import data_dir

    own = data_dir("catalogs") / kind
    # a kind without a folder of its name is in the folder of its subject, such as serving/engines.yaml
    files = own.glob("*.yaml") if own.is_dir() else own.parent.glob("*/*.yaml")
    for file in files:
        parts = re.split(r"^(\w+):", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
        for key, text in zip(parts[1::2], parts[2::2], strict=True):
            if key == kind:
                yield from ID.findall(text)


def _files(incomplete: str, suffixes: tuple[str, ...]) -> list[str]:
    folder, _, name = incomplete.rpartition("/")
    where = Path(folder or ("/" if incomplete.startswith("/") else "."))
    if not where.is_dir():
        return []
    begin = f"{folder}/" if "/" in incomplete else ""
    found = [f for f in where.iterdir() if f.name.startswith(name) and not f.name.startswith(".")]
    return sorted(
        f"{begin}{f.name}{'/' if f.is_dir() else ''}"
        for f in found
        if f.is_dir() or f.suffix in suffixes
    )
