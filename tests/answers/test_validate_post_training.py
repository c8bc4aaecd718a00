"""`dcplan validate post-training`: published runs and dcplan's predictions."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from dcplan.answers.validation.answer import validate
from dcplan.answers.validation.post_training.answer import groups
from dcplan.answers.validation.request import ValidateRequest
from dcplan.errors import InputError
from dcplan.result import Result
from dcplan.specs.validation.post_training import PostRunRow


@pytest.fixture(scope="module")
def found() -> Result:
    return validate(ValidateRequest("post-training"))


def test_every_published_figure_has_a_prediction(found: Result) -> None:
    rows = found.tables["post_training_runs"].records()
    assert len(rows) == 248
    assert {row["status"] for row in rows} == {"ok"}
    assert all(row["url"].startswith("https://") for row in rows)


def test_errors_are_those_of_the_page(found: Result) -> None:
    """docs/validation/training.md states these figures; they are no goal."""
    rows = {(r["kind"], r["source"]): r for r in found.tables["post_training_errors"].records()}
    nemo = rows["sft", "Megatron-Bridge performance summary"]
    assert nemo["median_abs_error_frac"] < 0.08
    assert rows["lora", "MLPerf Training v5.0"]["median_abs_error_frac"] < 0.15
    assert rows["lora", "prime-rl benchmarks"]["median_abs_error_frac"] > 0.2
    assert found.metrics["post_training.inside_frac"].value == pytest.approx(0.80, abs=0.04)


def test_the_elastic_run_is_the_renewal_formula_by_hand(found: Result) -> None:
    """A stop every 60 s, steps of 9 s, 5 s of restart: (9 / 60) / (e^(5/60) (e^(9/60) - 1))."""
    rows = {r["id"]: r for r in found.tables["post_training_runs"].records()}
    row = rows["elastic-llama-3-1b-torchtitan-l40s-300-step-efficiency"]
    assert row["predicted"] == pytest.approx(0.15 / (1.08690 * 0.16183), rel=1e-3)
    assert row["error_frac"] == pytest.approx(row["predicted"] / 0.823 - 1)
    assert row["inside"] == "no"


def test_a_range_has_no_error_inside(found: Result) -> None:
    rows = {r["id"]: r for r in found.tables["post_training_runs"].records()}
    row = rows["diloco-intellect-1-10b-h100-112-mfu-low"]
    assert (row["published"], row["published_high"]) == (0.362, 0.414)
    nearest = min(max(row["predicted"], 0.362), 0.414)
    assert row["error_frac"] == pytest.approx(row["predicted"] / nearest - 1)


def test_groups_are_medians() -> None:
    def row(error: float, inside: str) -> PostRunRow:
        given = dict.fromkeys(PostRunRow.__dataclass_fields__, None)
        given |= {"kind": "lora", "source": "a, b", "error_frac": error, "inside": inside}
        return PostRunRow(**given)  # type: ignore[arg-type]

    (found,) = groups([row(-0.3, "yes"), row(0.1, "yes"), row(0.2, "no")])
    assert (found.kind, found.source, found.runs) == ("lora", "a", 3)
    assert found.median_abs_error_frac == pytest.approx(0.2)
    assert (found.bias_frac, found.worst_error_frac) == (0.1, -0.3)
    assert found.inside_frac == pytest.approx(2 / 3)


def test_rows_of_the_reference_points_have_their_sequences(repo: Path) -> None:
    """MLPerf, reference points of llama2_70b_lora: 3,187 sequences in the mean at a batch of 8."""
    with (repo / "catalogs/runs/fine_tuning_runs.csv").open(encoding="utf-8") as file:
        rows = [r for r in csv.DictReader(file) if r["train_sequences"]]
    points = [3072, 2688, 3456, 3072, 3072, 3072, 3456, 3456, 3072, 2688]
    points += [3456, 3072, 3072, 3072, 3840, 3456, 2688, 3072, 3456, 3456]
    mean = sum(points) / len(points)
    eight = {r["train_sequences"] for r in rows if r["global_batch_seqs"] == "8"}
    assert eight == {str(round(mean))}
    # 173 sequences are tested every 384, without the first three times
    tests = {r["eval_sequences"] for r in rows if r["global_batch_seqs"] == "8"}
    assert tests == {str(round((mean / 384 - 3) * 173))}


def test_other_flags_are_refused() -> None:
    with pytest.raises(InputError, match="--runs also to price-performance"):
        validate(ValidateRequest("post-training", runs=Path("mine.csv")))
