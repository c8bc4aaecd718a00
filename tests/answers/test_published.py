"""`dcplan validate SUBJECT`: rows of catalogs/published and of overlays, and what a row may ask."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcplan.answers.validation.answer import validate as published
from dcplan.answers.validation.published import verdict
from dcplan.catalog.loader import load
from dcplan.catalog.schema import System
from dcplan.catalog.subjects import SUBJECTS
from dcplan.errors import InputError
from dcplan.provenance import Quantity

ROW = """published:
  - id: own-design
    name: a network of ours
    source: "a hand count: 4 nodes x 8 links = 32; two leaves of 32 down and 32 up"
    subject: {subject}
    verb: {verb}
    ask: {ask}
    figures: {figures}
"""
PAYMENT = (
    "{of: economics.loans.level_payment_usd, principal_usd: 1000, rate_per_period: 0.1, periods: 3}"
)
"""A level payment of 1000 at 10 % over 3 years: 1000 x 0.1 / (1 - 1.1^-3) = 402.11."""


def overlay(folder: Path, verb: str, ask: str, figures: str, subject: str = "fabric") -> list[str]:
    (folder / "published").mkdir(parents=True)
    (folder / "published" / "own.yaml").write_text(
        ROW.format(verb=verb, ask=ask, figures=figures, subject=subject)
    )
    return [str(folder)]


def of(rows: list[dict], name: str) -> dict:
    return next(r for r in rows if r["id"] == "own-design" and r["figure"] == name)


def test_an_own_row_is_compared(tmp_path: Path) -> None:
    asked = "{nodes: 4, system: dgx-h100, fabric: ib-ndr-400}"
    catalogs = overlay(
        tmp_path,
        "fabric",
        asked,
        "{fabric.node_leaf_links: 32, fabric.leaf_switches: {value: 9, low: 1, high: 20}, fabric.spine_switches: 4}",
    )
    rows = published("fabric", catalogs=catalogs).tables["figures"].records()
    assert (
        of(rows, "fabric.node_leaf_links")["computed"],
        of(rows, "fabric.node_leaf_links")["verdict"],
    ) == (32, "exact")
    assert of(rows, "fabric.leaf_switches")["verdict"] == "exact"  # inside what was published
    assert (
        of(rows, "fabric.spine_switches")["error_frac"]
        == of(rows, "fabric.spine_switches")["computed"] / 4 - 1
    )


def test_a_function_of_a_physics_room_is_asked(tmp_path: Path) -> None:
    catalogs = overlay(tmp_path, "function", PAYMENT, "{result: 402.11}")
    rows = published("fabric", catalogs=catalogs).tables["figures"].records()
    assert of(rows, "result")["computed"] == pytest.approx(402.115, abs=1e-3)


@pytest.mark.parametrize(
    ("ask", "figures"),
    [
        ("{model: llama-3.1-8b, system: dgx-h100, accelerators: 8}", "{train.step_time_s: 3}"),
        ("{model: llama-3.1-8b, system: dgx-h100, deadline_days: 9}", "{train.days_p50: 3}"),
    ],
)
def test_a_whole_run_is_asked_for_its_length_with_its_count(
    tmp_path: Path, ask: str, figures: str
) -> None:
    catalogs = overlay(tmp_path, "train", ask, figures, "runs")
    with pytest.raises(InputError, match="asks `train` with `accelerators` for one figure"):
        published("runs", catalogs=catalogs)


def test_a_figure_of_a_function_is_arithmetic_and_counts_for_no_verb(tmp_path: Path) -> None:
    catalogs = overlay(
        tmp_path, "function", PAYMENT, "{result: 402.11}\n    given: [result]", "tco"
    )
    plain, more = published("tco"), published("tco", catalogs=catalogs)
    assert of(more.tables["figures"].records(), "result")["basis"] == "arithmetic"
    alike = [key for key in plain.metrics if key != "figures.arithmetic"]
    assert {k: more.metrics[k] for k in alike} == {k: plain.metrics[k] for k in alike}
    count = plain.value("figures.arithmetic")
    assert more.value("figures.arithmetic") == count + 1
    assert more.headline == plain.headline.replace(f"; {count:.0f} more", f"; {count + 1:.0f} more")


@pytest.mark.parametrize(
    "name",
    [
        "economics.loans._private",
        "os.path.exists",
        "economics.loans.np.sum",
        "economics.nothing.here",
        "planning.solve.search.solve_menu",
        "economics.loans.annotations",
    ],
)
def test_no_other_function_can_be_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="not a public function"):
        published(
            "fabric", catalogs=overlay(tmp_path, "function", f"{{of: {name}}}", "{result: 1}")
        )


def test_a_figure_that_the_answer_lacks_is_refused(tmp_path: Path) -> None:
    asked = "{nodes: 4, system: dgx-h100, fabric: ib-ndr-400}"
    with pytest.raises(InputError, match=r"own-design: the answer has no number 'leafs'"):
        published("fabric", catalogs=overlay(tmp_path, "fabric", asked, "{leafs: 1}"))


def test_an_unknown_subject_is_refused() -> None:
    with pytest.raises(InputError, match='did you mean "fabric"'):
        published("fabrics")


@pytest.mark.parametrize(
    ("off", "word"),
    [
        (0.004, "exact"),
        (0.006, "close"),
        (0.049, "close"),
        (0.051, "near"),
        (0.249, "near"),
        (0.251, "far"),
    ],
)
def test_the_bands_of_verdicts(off: float, word: str) -> None:
    """Half a percent, 5 % and 25 %, on either side; README says the same."""
    assert [verdict(Quantity(value=200), 200 * (1 + sign * off)) for sign in (1, -1)] == [
        word,
        word,
    ]


def test_errors_are_means_of_the_figures(tmp_path: Path) -> None:
    result = published("claims")
    errors = [
        float(str(r["error_frac"]))
        for r in result.tables["figures"].records()
        if r["error_frac"] is not None and r["basis"] != "arithmetic"
    ]
    assert result.value("error.mean_abs_frac") == pytest.approx(sum(map(abs, errors)) / len(errors))
    assert result.value("error.bias_frac") == pytest.approx(sum(errors) / len(errors))
    assert result.value("error.mean_abs_frac") > abs(result.value("error.bias_frac")) > 0


def test_an_answer_is_multiplied_with_its_bounds_before_it_is_compared(tmp_path: Path) -> None:
    """A DGX H100 of 8: its price and the bounds of it, for one accelerator."""
    catalogs = overlay(
        tmp_path,
        "catalog",
        "{kind: systems, id: dgx-h100}",
        "{price_usd: 30000}\n    times: {price_usd: 0.125}",
    )
    row = of(published("fabric", catalogs=catalogs).tables["figures"].records(), "price_usd")
    price = load().get("systems", "dgx-h100", System).price_usd
    assert price is not None
    assert (row["low"], row["computed"], row["high"]) == tuple(
        x / 8 for x in (price.bounds[0], price.value, price.bounds[1])
    )


def test_independent_figures_are_counted_apart() -> None:
    result = published("goodput")
    alone = [r for r in result.tables["figures"].records() if r["basis"] == "independent"]
    assert result.value("figures.independent") == len(alone) < result.value("figures.total")
    good = sum(r["verdict"] in ("exact", "close") for r in alone)
    assert result.value("figures.independent_close") == good
    assert result.headline.endswith(f"; {good} of {len(alone)} independent ones exact or close")


def test_what_agreement_proves_is_said_figure_by_figure(tmp_path: Path) -> None:
    asked = "{nodes: 4, system: dgx-h100, fabric: ib-ndr-400}"
    catalogs = overlay(
        tmp_path,
        "fabric",
        asked,
        "{fabric.leaf_switches: 8, fabric.node_leaf_links: 32}\n    given: [fabric.node_leaf_links]\n    fitted: true",
    )
    rows = published("fabric", catalogs=catalogs).tables["figures"].records()
    assert (
        of(rows, "fabric.leaf_switches")["basis"],
        of(rows, "fabric.node_leaf_links")["basis"],
    ) == ("fitted", "given")
    assert {r["basis"] for r in rows} == {"independent", "fitted", "given"}


@pytest.mark.parametrize(
    "more",
    [
        "times: {spine: 2}",
        "given: [spine]",
        "times: {fabric.leaf_switches: .nan}",
        "times: {fabric.leaf_switches: 1e400}",
        "times: {fabric.leaf_switches: x}",
    ],
)
def test_factors_that_are_none_are_refused(tmp_path: Path, more: str) -> None:
    asked = "{nodes: 4, system: dgx-h100, fabric: ib-ndr-400}"
    with pytest.raises(InputError, match=r"own\.yaml:"):
        published(
            "fabric",
            catalogs=overlay(tmp_path, "fabric", asked, f"{{fabric.leaf_switches: 8}}\n    {more}"),
        )


HOSTILE = (
    ("function", "{of: facility.liquid.flow_l_per_min, heat_kw: 1, rise_k: 0, heat_kj_per_l_k: 1}"),
    ("function", PAYMENT.replace("principal_usd: 1000", "principal_usd: abc")),
    ("function", "{of: llm.config.from_config, config: {}}"),
    ("function", "{of: fabric.media.pick, media: [], meters: 1}"),
    (
        "function",
        "{of: economics.run_cost.accelerator_hours, params: 9e307, tokens: 9, peak_tflops: 1, mfu_frac: 1}",
    ),
    ("catalog", "{id: dgx-h100}"),
    ("fabric", "{nodes: 4, system: dgx-h100, fabric: ib-ndr-400, catalogs: [x]}"),
    ("fabric", "{nodes: four, system: dgx-h100, fabric: ib-ndr-400}"),
    ("plan", "{scenario: /etc/passwd}"),
    ("plan", "{scenario: ../../../etc/passwd}"),
    ("train", "{model: ../../../etc/passwd, system: dgx-h100, accelerators: 8}"),
    ("train", "{model: config.json, system: dgx-h100, accelerators: 8}"),
    ("facility", "{epw: /etc/passwd, cooling: air-chiller, it_mw: 1}"),
    ("facility", "{site: us-dallas, cooling: air-chiller, system: dgx-h100, job: /etc/passwd}"),
    ("fabric", "{nodes: 4, system: dgx-h100, compare: ib-ndr-400, for_job: /etc/passwd}"),
)


def test_rows_of_a_stranger_end_in_messages(tmp_path: Path) -> None:
    """All of them at once; neither a traceback nor a line of a file that a row has no business
    with."""
    (tmp_path / "published").mkdir()
    rows = [
        ROW.format(verb=verb, ask=ask, figures="{result: 1}", subject="claims").replace(
            "own-design", f"row-{n}-end"
        )
        for n, (verb, ask) in enumerate(HOSTILE)
    ]
    text = rows[0] + "".join(row.partition("\n")[2] for row in rows[1:])
    (tmp_path / "published" / "own.yaml").write_text(text)
    with pytest.raises(InputError) as caught:
        published("claims", catalogs=[str(tmp_path)])
    said = str(caught.value)
    assert [n for n in range(len(HOSTILE)) if f"row-{n}-end" not in said] == []
    assert "root:" not in said


@pytest.mark.slow
@pytest.mark.parametrize("subject", SUBJECTS)
def test_every_shipped_row_answers(subject: str) -> None:
    result = published(subject)
    assert result.value("figures.total") >= 10
    rows = result.tables["figures"].records()
    silent = [
        f"{r['id']} {r['figure']}"
        for r in rows
        if r["verdict"] in ("near", "far") and not r["note"]
    ]
    assert silent == []  # a difference says why, or that it is open


def test_a_figure_names_a_row_by_its_first_two_cells(tmp_path: Path) -> None:
    """A hall of 0.2 MW at 9.5 M USD per MW; a table of cost lines has the side first."""
    asked = "{scenario: cost/textbook, variant: small-facility}"
    figures = '{"lines[owned, building].usd": 1900000, "lines[owned].usd": 1900000}'
    catalogs = overlay(tmp_path, "tco", asked, figures, "pue")
    rows = published("pue", catalogs=catalogs).tables["figures"].records()
    for figure in ("lines[owned, building].usd", "lines[owned].usd"):
        assert of(rows, figure)["computed"] == pytest.approx(1.9e6)
        assert of(rows, figure)["verdict"] == "exact"


@pytest.mark.slow
def test_every_worked_example_of_cost_comes_out_of_a_verb() -> None:
    rows = published("tco").tables["figures"].records()
    given = [r for r in rows if r["basis"] == "given"]
    assert len({r["id"] for r in given}) > 35
    assert [(r["id"], r["figure"], r["computed"]) for r in given if r["verdict"] != "exact"] == []
    printed = [r for r in given if r["published_low"] is not None]
    assert len(printed) > 60
    outside = [
        (r["id"], r["figure"], r["computed"])
        for r in printed
        if not r["published_low"] <= r["computed"] <= r["published_high"]
    ]
    assert outside == []  # half a percent is exact, but not the printed digit
    assert {r["id"] for r in rows if r["basis"] == "arithmetic"} == {
        "excel-pmt-in-advance", "book-70b-gpu-hours",
    }  # fmt: skip


def test_a_row_reads_packaged_logs_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("submit,run,n\n0,10,1\n")
    for name in (str(tmp_path / "mine"), "../logs/helios-earth", "mine"):
        with pytest.raises(InputError, match="packaged examples"):
            published(
                "demand",
                catalogs=overlay(
                    tmp_path / name.replace("/", "_"), "demand", f"{{files: ['{name}']}}",
                    "{demand.jobs: 1}", "demand",
                ),
            )  # fmt: skip
