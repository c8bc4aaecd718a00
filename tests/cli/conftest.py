"""Two ways to call dcplan: a real process, and the entry point inside this one (which saves the
imports)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from dcplan.__main__ import run

TINY = """\
dcplan: 1
name: tiny
horizon: {start: 2027-Q1, quarters: 2}
sites:
  - id: s
    location: us-ashburn
    utility_mw: 4
    halls:
      - {id: h, existing: true, racks: 40, rack_kw_max: 42, it_mw: 2, cooling: [airside-economizer-air-chiller]}
systems: [dgx-h200]
fabric: {id: ib-ndr-400}
storage: {usable_pb: 1}
workloads:
  capacity:
    - {id: r, pflops_delivered: [0, 20], utilization_frac: 0.6, reference: {model: llama-3.1-70b, seq_len: 8192}}
"""
"""One air-cooled hall and one demand: solves in a tenth of a second."""


@dataclass(frozen=True)
class Ran:
    """How a call ended."""

    code: int
    out: str
    err: str


def spawn(
    *arguments: str,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    program: tuple[str, ...] = ("-m", "dcplan"),
) -> Ran:
    """Run ``python -m dcplan ...`` as a real process with its streams piped."""
    done = subprocess.run(
        [sys.executable, *program, *arguments],
        cwd=cwd,
        env={**os.environ, "COLUMNS": "80", **(env or {})},
        capture_output=True,
        timeout=300,
        check=False,
    )
    return Ran(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A scenario that solves in a tenth of a second."""
    file = tmp_path / "tiny.yaml"
    file.write_text(TINY, encoding="utf-8")
    return file


@pytest.fixture
def here(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Iterator[Callable[..., Ran]]:
    """Call the entry point in this process, in a temporary folder, with the streams captured."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    before = signal.getsignal(signal.SIGINT)

    def call(*arguments: str) -> Ran:
        monkeypatch.setattr(sys, "argv", ["dcplan", *arguments])
        capsys.readouterr()
        code = run()
        seen = capsys.readouterr()
        return Ran(code, seen.out, seen.err)

    yield call
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def train_405b(tmp_path_factory: pytest.TempPathFactory) -> tuple[Ran, Path]:
    """The main job as a user runs it: one real process, JSON on stdout, kept in a file."""
    folder = tmp_path_factory.mktemp("train-405b")
    ran = spawn(
        "plan", "train-405b-in-90-days", "-f", "json", cwd=folder, env={"PYTHONHASHSEED": "1"}
    )
    saved = folder / "result.json"
    saved.write_text(ran.out, encoding="utf-8")
    return ran, saved
