"""Every console and Python block of README and docs is run as its reader would run it; the output
is compared."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dcplan.report.pages.__main__ import PAGES as GENERATED_PAGES
from tests.docs.blocks import CLOSE, SKIP, Block, blocks, commands, same

ROOT = Path(__file__).parents[2]
GENERATED = {ROOT / "docs" / name for name in GENERATED_PAGES}
PAGES = [ROOT / "README.md", *sorted({*(ROOT / "docs").rglob("*.md")} - GENERATED)]
SLOW = "<!-- slow -->"
"""A page with this comment solves for longer than a fast test may take: it runs in .ci/run."""
RUN = ("console", "python")
LEFT = {"docs/examples": "what the exporters write, made by tests/report/test_examples.py"}


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def with_blocks() -> list[object]:
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        if any(name_of(page).startswith(folder) for folder in LEFT):
            continue
        if any(b.language in RUN for b in blocks(text)):
            found.append(
                pytest.param(
                    page, id=name_of(page), marks=[pytest.mark.slow] if SLOW in text else []
                )
            )
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder with the repository's scenarios, as a clone has them."""
    shutil.copytree(ROOT / "scenarios", tmp_path / "work" / "scenarios")
    return tmp_path / "work"


def environment(home: Path) -> dict[str, str]:
    """A clean environment with this interpreter's commands first."""
    path = f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"
    who = {
        f"GIT_{role}_{what}": "docs"
        for role in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    kept = {key: os.environ[key] for key in ("PYTHONDONTWRITEBYTECODE",) if key in os.environ}
    return {"PATH": path, "HOME": str(home), "LANG": "C.UTF-8", "NO_COLOR": "1", **who, **kept}


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    script = f"set -o pipefail; {command}"
    return subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=environment(folder.parent),
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )


@pytest.mark.parametrize("page", with_blocks())
def test_blocks_do_what_the_page_says(
    page: Path, folder: Path, request: pytest.FixtureRequest
) -> None:
    text = page.read_text(encoding="utf-8")
    found = blocks(text)
    update = bool(request.config.getoption("--update-golden"))
    wrong: list[str] = []
    new: dict[int, list[str]] = {}
    for i, block in enumerate(found):
        if block.title:
            (folder / block.title).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.title).write_text("\n".join(block.lines) + "\n", encoding="utf-8")
        elif block.language == "console":
            new[i] = _console(block, folder, wrong, update)
        elif block.language == "python":
            after = found[i + 1] if i + 1 < len(found) and found[i + 1].language == "text" else None
            if (printed := _python(block, after, folder, wrong)) is not None and after is not None:
                new[i + 1] = printed
    if update:
        page.write_text(_rewritten(text, found, new), encoding="utf-8")
        wrong = [w for w in wrong if w.startswith("by hand")]
    assert not wrong, "\n\n".join(wrong)


def _console(block: Block, folder: Path, wrong: list[str], update: bool) -> list[str]:
    lines: list[str] = []
    for command in commands(block):
        done = shell(command.text, folder)
        got = done.stdout.replace(str(ROOT), ".").replace(str(folder), ".").rstrip("\n").split("\n")
        got = [line.rstrip() for line in got]
        kept = command.expected
        if done.returncode != 0:
            wrong.append(
                f"by hand: $ {command.text}\nexit {done.returncode}\n{done.stderr[-2000:]}"
            )
        # rewritten pages have the figures of one version; a reader adds them up
        elif not same(command.expected, got if got != [""] else [], 0.0 if update else CLOSE):
            by_hand = "by hand (it skips lines): " if SKIP in command.expected else ""
            wrong.append(
                f"{by_hand}$ {command.text}\n--- page\n"
                + "\n".join(kept)
                + "\n--- now\n"
                + "\n".join(got)
            )
            kept = kept if by_hand else [*got, ""] if kept and not kept[-1] else got
        lines += (
            [*f"$ {command.text}".split("\n"), *kept] if kept != [""] else [f"$ {command.text}"]
        )
    return lines


def _python(block: Block, after: Block | None, folder: Path, wrong: list[str]) -> list[str] | None:
    code = "\n".join(block.lines)
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env=environment(folder.parent),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    got = done.stdout.rstrip("\n").split("\n")
    if done.returncode != 0:
        wrong.append(f"by hand: {code}\n{done.stderr[-2000:]}")
        return None
    if after is None:
        return None
    if same(after.lines, got):
        return after.lines
    wrong.append(f"{code}\n--- page\n" + "\n".join(after.lines) + "\n--- now\n" + "\n".join(got))
    return got


def _rewritten(text: str, found: list[Block], new: dict[int, list[str]]) -> str:
    lines = text.split("\n")
    for i in sorted(new, reverse=True):
        block = found[i]
        lines[block.first : block.end] = [f"{block.indent}{x}".rstrip() for x in new[i]]
    return "\n".join(lines)


def test_every_block_has_a_known_language() -> None:
    known = {"console", "python", "text", "yaml", "json", "csv", "bash", "make"}
    found = {(name_of(p), b.language) for p in PAGES for b in blocks(p.read_text(encoding="utf-8"))}
    assert {x for x in found if x[1] not in known} == set()


def test_bash_blocks_name_flags_that_exist() -> None:
    """Blocks for machines that a test does not have (a cluster, a runner) are read, not run."""
    verbs = {}
    for page in PAGES:
        for block in blocks(page.read_text(encoding="utf-8")):
            for line in (
                "\n".join(block.lines).replace("\\\n", " ").split("\n")
                if block.language == "bash"
                else ()
            ):
                if (call := re.search(r"\bdcplan (\w+)(.*)", line)) is not None:
                    verbs.setdefault(call[1], set()).update(re.findall(r"--[a-z-]+", call[2]))
    for verb, flags in verbs.items():
        done = subprocess.run(
            [sys.executable, "-m", "dcplan", verb, "--help"],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
            env={**os.environ, "COLUMNS": "200"},
        )
        assert {f for f in flags if f not in done.stdout} == set(), verb


def test_relative_links_lead_somewhere() -> None:
    """README and docs are read on a hosting site, too: a link goes to a file that git keeps.

    `make docs` checks the generated pages with the others.
    """
    broken = []
    for page in PAGES:
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:", target):
                assert target.startswith("https://"), f"{name_of(page)}: {target}"
                continue
            file, _, anchor = target.partition("#")
            aim = (page.parent / file).resolve() if file else page
            if (
                not aim.exists()
                or aim in GENERATED
                or (anchor and aim.suffix == ".md" and anchor not in anchors(aim))
            ):
                broken.append(f"{name_of(page)}: {target}")
    assert broken == []


def anchors(page: Path) -> set[str]:
    """Anchors of a page's headings, as mkdocs makes them."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    heads = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    words = (re.sub(r"[^\w\s-]", "", head.replace("`", "")).strip().lower() for head in heads)
    return {re.sub(r"[-\s]+", "-", w) for w in words} | set(re.findall(r"\{ *#([\w-]+) *\}", text))


def test_the_readme_runs_each_way_to_change_an_input() -> None:
    """A newcomer finds a command, which the test above runs, for each of them."""
    page = blocks((ROOT / "README.md").read_text(encoding="utf-8"))
    texts = [c.text for b in page if b.language == "console" for c in commands(b)]
    ways = ("--set ", "--what-if ", "dcplan sweep ", "dcplan frontier ", "--prove ")
    assert [way for way in ways if not any(way in text for text in texts)] == []
