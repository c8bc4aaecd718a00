"""The words of the project: plain English, and a name for people wherever a machine name shows."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from dcplan.specs.headers import header
from dcplan.specs.registry import VERBS, metrics, table_specs

ROOT = Path(__file__).resolve().parents[1]
LIST = ROOT / "tests" / "words.txt"
TEXTS = (
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "README.md",
    *sorted((ROOT / "catalogs").rglob("*.yaml")),
    *sorted((ROOT / "scenarios").rglob("*.yaml")),
)
CODE = sorted((ROOT / "dcplan").rglob("*.py"))


def forbidden() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Return each word with its replacement and the phrases that may hold it."""
    found = {}
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            word, better, *phrases = (part.strip() for part in line.split("|"))
            allowed = tuple(p.strip() for p in phrases[0].split(";")) if phrases else ()
            found[word] = (better, allowed)
    return found


WORDS = forbidden()
PATTERN = re.compile(rf"(?<![\w`./-])({'|'.join(sorted(WORDS, key=len, reverse=True))})(?![\w`/-])")


def offences(text: str) -> Iterator[str]:
    """Yield each forbidden word of a text with its line and what to write instead."""
    for number, line in enumerate(text.splitlines(), 1):
        low = line.casefold()
        for match in PATTERN.finditer(low):
            better, allowed = WORDS[match.group()]
            if not any(phrase in low for phrase in allowed):
                yield f"{number}: {match.group()!r}, write: {better}: {line.strip()[:100]}"


def prose(path: Path) -> str:
    """Return the strings and comments of a module, each on the line on which it begins."""
    source = path.read_text(encoding="utf-8")
    lines = [""] * (source.count("\n") + 2)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.STRING, tokenize.COMMENT):
            for i, text in enumerate(token.string.split("\n")):
                lines[token.start[0] - 1 + i] += " " + text
    return "\n".join(lines)


def test_the_list_catches_a_word_and_keeps_an_allowed_phrase() -> None:
    assert len(WORDS) > 20
    assert [x.partition(",")[0] for x in offences("Beside the hall\ndebt drawn by quarter")] == [
        "1: 'beside'"
    ]


@pytest.mark.parametrize("path", TEXTS, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_text_uses_a_forbidden_word(path: Path) -> None:
    assert list(offences(path.read_text(encoding="utf-8"))) == []


def test_no_string_or_comment_of_the_code_uses_a_forbidden_word() -> None:
    found = {str(p.relative_to(ROOT)): list(offences(prose(p))) for p in CODE}
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_every_header_is_for_people() -> None:
    names = {c.name for verb in VERBS for spec in table_specs(verb) for c in spec.columns}
    plain = [n for n in names if "<" not in n]
    assert len(plain) > 400
    assert [n for n in plain if "_" in header(n) or not header(n)[:1].isupper()] == []


def test_every_metric_and_table_has_a_name_for_people() -> None:
    for verb in VERBS:
        for metric in metrics(verb):
            assert metric.meaning[:1].isupper() or metric.meaning[:1].isdigit(), metric.key
            assert not re.search(r"[a-z]_[a-z]", metric.meaning), metric.key
        for spec in table_specs(verb):
            assert spec.title[:1].isupper(), spec.name
            assert all(re.match("[A-Z0-9]", c.meaning) for c in spec.columns), spec.name


def test_every_metric_begins_with_its_room_and_ends_with_its_unit() -> None:
    assert [m.key for verb in VERBS for m in metrics(verb) if "." not in m.key] == []
