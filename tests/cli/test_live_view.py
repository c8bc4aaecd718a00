"""The view of ``plan`` on a terminal: shown while it solves, and gone at the end."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Ran


def at_terminal(tiny: Path, *flags: str, **env: str) -> str:
    """Run a plan at a terminal of 80 columns; return what it receives."""
    return shown_by(["plan", tiny.name, *flags], tiny.parent, **env)


def shown_by(words: list[str], folder: Path, **env: str) -> str:
    """Run a command with stderr on a terminal of 80 columns; return what the terminal receives."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    command = [sys.executable, "-m", "dcplan", *words]
    own = {"TERM": "xterm", "PYTHONUTF8": "1", **env}
    with subprocess.Popen(
        command,
        cwd=folder,
        stdin=theirs,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env=os.environ | own,
    ) as run:
        os.close(theirs)
        shown = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # the terminal closes with its last program
                break
            if not piece:
                break
            shown += piece
        assert run.wait(120) == 0, shown.decode()
    os.close(ours)
    return shown.decode()


def test_a_terminal_shows_a_view_that_vanishes(tiny: Path) -> None:
    shown = at_terminal(tiny, "-q").strip()
    assert shown == ""  # --quiet
    shown = at_terminal(tiny)
    assert "Planning tiny.yaml: " in shown
    assert "Best plan" in shown
    drawn, erased = shown.rsplit("\x1b[?25h", 1)  # the cursor comes back at the end
    assert "Time" in drawn
    assert erased.count("\x1b[2K") >= 4  # every line is erased again
    assert "Planning" not in erased


def test_no_progress_and_dumb_terminals_show_no_view(tiny: Path) -> None:
    assert "Best plan" not in at_terminal(tiny, "--no-progress")
    assert "Best plan" not in at_terminal(tiny, TERM="dumb")


def test_no_color_leaves_the_colors_out(tiny: Path) -> None:
    for shown in (at_terminal(tiny, NO_COLOR="1"), at_terminal(tiny, "--no-color")):
        assert "Planning tiny.yaml" in shown
        assert not re.search(r"\x1b\[(3|9)\d", shown)


def test_a_sizing_shows_its_steps_in_a_line_that_vanishes(tmp_path: Path) -> None:
    words = ["demand", "helios-earth", "--accelerators", "vcTJs=48", "--draws", "4"]
    shown = shown_by(words, tmp_path)
    assert "Demand of helios-earth: " in shown
    drawn, erased = shown.rsplit("\x1b[?25h", 1)
    assert "vcTJs, " in drawn
    assert "Demand of helios-earth" not in erased
    for flags in (["--no-progress"], ["-q"]):
        assert "Demand of helios-earth" not in shown_by([*words, *flags], tmp_path)
    assert "Demand of helios-earth" not in shown_by(words, tmp_path, TERM="dumb")


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize(
    ("flags", "proofs"), [(("--prove", "shown"), True), (("--prove", "all"), False)]
)
def test_the_time_left_of_a_screened_sweep_is_without_its_proofs(
    here: Callable[..., Ran], flags: tuple[str, ...], proofs: bool
) -> None:
    ran = here("sweep", "tiny.yaml", "--set", "finance.discount_rate=0.06,0.1", *flags)
    assert ran.code == 0, ran.err
    assert "2 of 2 points, 0 failed" in ran.err
    assert ("proofs of some points follow" in ran.err) == proofs
