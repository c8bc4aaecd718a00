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
from pathlib import Path


def at_terminal(tiny: Path, *flags: str, **env: str) -> str:
    """Run a plan with stderr on a terminal of 80 columns; return what the terminal receives."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    command = [sys.executable, "-m", "dcplan", "plan", tiny.name, *flags]
    own = {"TERM": "xterm", "PYTHONUTF8": "1", **env}
    with subprocess.Popen(
        command,
        cwd=tiny.parent,
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
