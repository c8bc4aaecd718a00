"""Tab in a shell: the completion script, verbs, flags, files and examples, catalog ids; as real
processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dcplan.cli import complete

PROGRAM = Path(sys.executable).parent / "dcplan"


def offered(typed: str, cwd: Path) -> list[str]:
    words = typed.split(" ")
    env = {
        **os.environ,
        "_DCPLAN_COMPLETE": "complete_bash",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(words) - 1),
    }
    done = subprocess.run(
        [PROGRAM], cwd=cwd, env=env, capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout.split()


@pytest.mark.parametrize(
    ("typed", "word"),
    [
        ("dcplan pl", "plan"),
        ("dcplan train --sys", "--system"),
        ("dcplan plan train-4", "train-405b-in-90-days"),
        ("dcplan plan cases/fron", "cases/frontier"),
        ("dcplan plan my", "my-plan.yaml"),
        ("dcplan explain my", "my-plan.yaml"),
        ("dcplan train llama-3.1-4", "llama-3.1-405b"),
        ("dcplan train llama-3.1-405b --system gb300", "gb300-nvl72"),
        ("dcplan serve llama-3.1-8b --engine vl", "vllm"),
        ("dcplan serve llama-3.1-8b --precision nv", "nvfp4"),
        ("dcplan fabric --fabric ib-x", "ib-xdr-800"),
        ("dcplan facility --site us-ash", "us-ashburn"),
        ("dcplan facility --cooling direct-liquid-t", "direct-liquid-tower"),
        ("dcplan catalog list acc", "accelerators"),
        ("dcplan catalog show gb300-n", "gb300-nvl72"),
        ("dcplan validate goo", "goodput"),
        ("dcplan explain power.annual", "power.annual_pue"),
        ("dcplan explain DC01", "DC014"),
        ("dcplan init --example three", "three-site-build-out"),
    ],
)
def test_tab_offers(typed: str, word: str, tmp_path: Path) -> None:
    (tmp_path / "my-plan.yaml").write_text("dcplan: 1\n", encoding="utf-8")
    found = offered(typed, tmp_path)
    assert word in found
    assert all(x.startswith(typed.rsplit(" ", maxsplit=1)[-1]) for x in found)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_is_printed(shell: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [PROGRAM, "--show-completion", shell],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env={**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},
    )
    assert "_DCPLAN_COMPLETE" in done.stdout


def test_what_is_offered_begins_as_typed_and_is_of_the_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    systems = complete.ids("systems")("")
    assert "dgx-h100" in systems
    assert not {"h100-sxm", "ib-ndr-400", "us-ashburn"} & set(systems)
    assert complete.ids("systems")("gx-h100") == []  # a part of names, the beginning of none
    monkeypatch.chdir(tmp_path)
    for name in ("a.yaml", ".hidden.yaml", "a.txt"):
        (tmp_path / name).write_text("", encoding="utf-8")
    (tmp_path / "a-folder").mkdir()
    assert [x for x in complete.scenarios("a") if x.startswith("a")] == ["a-folder/", "a.yaml"]
    assert not [x for x in complete.scenarios("") if "hidden" in x]
