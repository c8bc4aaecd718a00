"""The notebook of the docs: its cells run in order, and each prints what the file shows."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.docs.blocks import same

NOTEBOOK = Path(__file__).parents[2] / "docs" / "examples" / "planner.ipynb"


def printed_by(cells: list[dict[str, Any]]) -> list[str]:
    """Run the code cells in one namespace and return what each of them prints."""
    names: dict[str, Any] = {"__name__": "__main__"}
    found = []
    for cell in cells:
        stream = io.StringIO()
        with contextlib.redirect_stdout(stream):
            exec(compile("".join(cell["source"]), cell["id"], "exec"), names)  # noqa: S102
        found.append(stream.getvalue())
    return found


@pytest.mark.slow
def test_every_cell_prints_what_the_notebook_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    document = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    cells = [cell for cell in document["cells"] if cell["cell_type"] == "code"]
    monkeypatch.chdir(tmp_path)
    printed = printed_by(cells)
    if request.config.getoption("--update-golden"):
        for number, (cell, text) in enumerate(zip(cells, printed, strict=True), 1):
            output = {"output_type": "stream", "name": "stdout", "text": text}
            cell["outputs"], cell["execution_count"] = [output] if text else [], number
        made = json.dumps(document, indent=1, ensure_ascii=False)
        NOTEBOOK.write_text(f"{made}\n", encoding="utf-8")
    assert len(cells) >= 8
    for cell, text in zip(cells, printed, strict=True):
        shown = "".join("".join(output["text"]) for output in cell["outputs"])
        assert same(shown.split("\n"), text.split("\n")), f"{cell['id']}: {text}"
    assert sorted(p.suffix for p in tmp_path.glob("plan.*")) == [".html", ".html", ".md", ".xlsx"]
