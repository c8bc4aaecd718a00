"""`dcplan validate SUBJECT`: rows of catalogs/published and of overlays, and what a row may ask."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcplan.answers.published import published
from dcplan.catalog.schema.published import SUBJECTS
from dcplan.errors import InputError

ROW = """published:
  - id: own-design
    name: a network of ours
    source: "a hand count: 4 nodes x 8 links = 32; two leaves of 32 down and 32 up"
    subject: fabric
    verb: {verb}
    ask: {ask}
    figures: {figures}
"""


def overlay(folder: Path, verb: str, ask: str, figures: str) -> list[str]:
    (folder / "published").mkdir()
    (folder / "published" / "own.yaml").write_text(ROW.format(verb=verb, ask=ask, figures=figures))
    return [str(folder)]


def of(rows: list[dict], name: str) -> dict:
    return next(r for r in rows if r["id"] == "own-design" and r["figure"] == name)


def test_an_own_row_is_compared(tmp_path: Path) -> None:
    asked = "{nodes: 4, system: dgx-h100, fabric: ib-ndr-400}"
    catalogs = overlay(tmp_path, "fabric", asked, "{node_leaf_links: 32, leaf: {value: 9, low: 1, high: 20}, spine: 4}")
    rows = published("fabric", catalogs=catalogs).tables["figures"].records()
    assert (of(rows, "node_leaf_links")["computed"], of(rows, "node_leaf_links")["verdict"]) == (32, "exact")
    assert of(rows, "leaf")["verdict"] == "exact"  # inside what was published
    assert of(rows, "spine")["error_frac"] == of(rows, "spine")["computed"] / 4 - 1


def test_a_function_of_a_physics_room_is_asked(tmp_path: Path) -> None:
    # level payment of 1000 at 10 % over 3 years: 1000 x 0.1 / (1 - 1.1^-3) = 402.11
    asked = "{of: economics.annuity.level_payment_usd, principal_usd: 1000, rate_per_period: 0.1, periods: 3}"
    catalogs = overlay(tmp_path, "function", asked, "{result: 402.11}")
    rows = published("fabric", catalogs=catalogs).tables["figures"].records()
    assert of(rows, "result")["computed"] == pytest.approx(402.115, abs=1e-3)


@pytest.mark.parametrize(
    "name",
    ["economics.annuity._private", "os.path.exists", "economics.annuity.np.sum", "economics.nothing.here",
     "planning.solve.run.solve_menu", "economics.annuity.annotations"],
)  # fmt: skip
def test_no_other_function_can_be_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="no public function"):
        published("fabric", catalogs=overlay(tmp_path, "function", f"{{of: {name}}}", "{result: 1}"))


def test_a_figure_that_the_answer_lacks_is_refused(tmp_path: Path) -> None:
    asked = "{nodes: 4, system: dgx-h100, fabric: ib-ndr-400}"
    with pytest.raises(InputError, match=r"own-design: the answer has no number 'leafs'"):
        published("fabric", catalogs=overlay(tmp_path, "fabric", asked, "{leafs: 1}"))


def test_an_unknown_subject_is_refused() -> None:
    with pytest.raises(InputError, match='did you mean "fabric"'):
        published("fabrics")


@pytest.mark.slow
@pytest.mark.parametrize("subject", SUBJECTS)
def test_every_shipped_row_answers(subject: str) -> None:
    result = published(subject)
    assert result.value("figures.total") >= 10
    rows = result.tables["figures"].records()
    silent = [f"{r['id']} {r['figure']}" for r in rows if r["verdict"] in ("near", "far") and not r["note"]]
    assert silent == []  # a difference says why, or that it is open
