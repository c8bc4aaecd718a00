"""What a shell offers on Tab: files and examples, catalog ids, names to explain; without loading
the catalog.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

ID = re.compile(r"^  - (?:\{ ?)?id: ([\w.-]+)", re.MULTILINE)


def scenarios(incomplete: str) -> list[str]:
    """Packaged examples, and YAML files and folders beside what is typed."""
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
    """Catalog models, and JSON and YAML files beside what is typed."""
    return [*_files(incomplete, (".json", ".yaml", ".yml")), *ids("models")(incomplete)]


def ids(kind: str) -> Callable[[str], list[str]]:
    """Ids of a catalog kind that begin as typed."""

    def find(incomplete: str) -> list[str]:
        return sorted(x for x in _ids(kind) if x.startswith(incomplete))

    return find


def kinds(incomplete: str) -> list[str]:
    """Catalog kinds."""
    from dcplan.catalog.schema import KINDS

    return [x for x in KINDS if x.startswith(incomplete)]


def rows(incomplete: str) -> list[str]:
    """Catalog kinds, and ids of all of them once a letter is typed: ``catalog show`` takes either."""
    found = kinds(incomplete)
    named = {x for kind in kinds("") for x in _ids(kind)} if incomplete else set()
    return [*found, *sorted(x for x in named if x.startswith(incomplete))]


def examples(incomplete: str) -> list[str]:
    """Packaged examples alone."""
    return [x for x in scenarios(incomplete) if not x.endswith((".yaml", ".yml", "/"))]


def subjects(incomplete: str) -> list[str]:
    """What ``validate`` holds computed figures against."""
    from dcplan.catalog.schema.published import SUBJECTS

    return [x for x in ("training", *SUBJECTS) if x.startswith(incomplete)]


def explainable(incomplete: str) -> list[str]:
    """Scenarios; once a letter is typed, metrics, columns and error codes besides."""
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
    """Return the completer that a flag names: one of this module's, or the ids of a catalog kind."""
    known: dict[str, Callable[[str], list[str]]] = {
        "scenarios": scenarios,
        "models": models,
        "kinds": kinds,
        "rows": rows,
        "examples": examples,
        "subjects": subjects,
        "explainable": explainable,
    }
    return known.get(what) or ids(what)


def _ids(kind: str) -> Iterator[str]:
    """A file declares its kind in its first key; a few hold several kinds, each from its own key
    on.
    """
    from dcplan.catalog.locate import data_dir

    for file in (data_dir("catalogs") / kind).glob("*.yaml"):
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
