"""Files are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dcplan.report.files import write_whole


def test_a_file_is_written_with_its_folders_and_exact_bytes(tmp_path: Path) -> None:
    target = tmp_path / "a" / "b" / "x.txt"
    write_whole(target, "zwei Zeilen: ü\nund LF\n")
    assert target.read_bytes() == "zwei Zeilen: ü\nund LF\n".encode()
    assert [p.name for p in target.parent.iterdir()] == ["x.txt"]


def test_a_file_gets_the_usual_permissions(tmp_path: Path) -> None:
    mask = os.umask(0o027)
    try:
        write_whole(tmp_path / "x.txt", "x")
    finally:
        os.umask(mask)
    assert (
        tmp_path / "x.txt"
    ).stat().st_mode & 0o777 == 0o640  # 666 less the mask, not the 600 of mkstemp


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_the_old_file_stays_when_writing_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    target = tmp_path / "x.txt"
    write_whole(target, "old")

    def full(self: Path, other: Path) -> None:
        raise error("disk full")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(error):
        write_whole(target, "new")
    assert target.read_text(encoding="utf-8") == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["x.txt"]


def test_text_that_cannot_be_encoded_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "x.txt"
    write_whole(target, "old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(target, "good, then a lone surrogate \ud800")
    assert target.read_text(encoding="utf-8") == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["x.txt"]
