"""Own or rent: what adds up, what reconciles with the plan, the eight adders by hand, what is
refused."""

from __future__ import annotations

import numpy as np
import pytest

from dcplan.answers.plan.answer import plan
from dcplan.answers.tco.answer import tco
from dcplan.answers.tco.comparison import compared
from dcplan.answers.tco.sensitivity.swings import Swing, sampled_npvs, vectors
from dcplan.economics.monthly.side import INCOME_TAX
from dcplan.economics.sampling import Marginal
from dcplan.errors import InputError
from dcplan.result import Result
from dcplan.scenario.load import load
from dcplan.specs.tco import costs, offers

FILE = "own-or-rent-1024-h200"


@pytest.fixture(scope="module")
def result() -> Result:
    return tco(FILE)


def value(result: Result, key: str) -> float:
    return float(result.metrics[key].value or 0.0)


def lines(result: Result, side: str) -> dict[str, tuple[float, float]]:
    return {
        row.line: (row.usd, row.npv_usd)
        for row in costs.LINES.rows(result.tables["lines"])
        if row.side == side
    }


def test_the_owned_cost_reconciles_with_the_plan_step_by_step(result: Result) -> None:
    steps = [row.usd for row in costs.BRIDGE.rows(result.tables["bridge"])]
    assert steps[0] == pytest.approx(
        float(plan(FILE).metrics["cost.npv_usd"].value or 0.0), rel=1e-9
    )
    assert sum(steps[:-1]) == pytest.approx(steps[-1])
    assert steps[-1] == pytest.approx(value(result, "owned.npv_usd"))


def test_without_taxes_and_debt_only_the_months_differ() -> None:
    bare = tco(FILE, sets=["finance.tax={}", "finance.debt=null", "sensitivity.inputs=[]"])
    steps = dict(bare.tables["bridge"].rows)
    assert list(steps) == [
        "cost.npv_usd of the plan's payments",
        "payments by month instead of mid-quarter",
        "lost goodput",
        "owned.npv_usd",
    ]
    first, last = (
        float(str(steps["cost.npv_usd of the plan's payments"])),
        float(str(steps["owned.npv_usd"])),
    )
    lost = float(str(steps["lost goodput"]))
    assert lost == pytest.approx(
        0.0205 * (last - lost)
    )  # ClusterMAX's gold column, of all before it
    assert last - lost == pytest.approx(first, rel=0.01)


def test_lines_sum_to_totals_and_years_to_lines(result: Result) -> None:
    sides = {row.side for row in costs.LINES.rows(result.tables["lines"])}
    assert len(sides) == 12  # owned; four offers with three terms, of which one has no price
    for side in sides:
        found = lines(result, side)
        plain, npv = found.pop("total")
        assert sum(usd for usd, _ in found.values()) == pytest.approx(plain)
        assert sum(x for _, x in found.values()) == pytest.approx(npv)
    rows = {row["year"]: row for row in result.tables["years"].records()}
    for column in (c for c in result.tables["years"].columns if c != "year"):
        by_year = sum(float(str(row[column])) for name, row in rows.items() if name != "total")
        assert float(str(rows["total"][column])) == pytest.approx(by_year)
        side = column.removesuffix("_usd")
        if side != "owned":  # the owned cash has its debt, the lines have not
            assert float(str(rows["total"][column])) == pytest.approx(
                lines(result, side)["total"][0]
            )


def test_the_adders_of_an_offer_by_hand(result: Result) -> None:
    """AWS for three years at 33 USD/h a node of 8, 4.125, and the fourth on a year's commitment;
    months of 730.5 h."""
    found = {k: v[0] for k, v in lines(result, "aws-p5en-48xlarge.reserved-3y").items()}
    year = (
        next(
            r["value"]
            for r in result.inputs
            if r["key"] == "cloud.aws-p5en-48xlarge.reserved_1y_usd_per_h"
        )
        / 8
    )
    rent = 1024 * 730.5 * (36 * 4.125 + 12 * year)
    assert found["accelerators"] == pytest.approx(rent)
    assert found["storage"] == pytest.approx(10_000 * 23.0 * 48)
    assert found["network and egress"] == pytest.approx((1024 * 0.02 + 50_000 * 0.09) * 48)
    assert found["CPU nodes"] == pytest.approx(1024 * 0.81 * 48)
    billed = sum(found[k] for k in ("accelerators", "storage", "network and egress", "CPU nodes"))
    assert found["support"] == pytest.approx(0.05 * billed)
    assert found["goodput loss"] == pytest.approx(0.0205 * rent)
    assert found["set-up"] == pytest.approx(800.36 * 1024)
    assert found["debugging"] == pytest.approx(16_667 * 48)
    spent = sum(v for k, v in found.items() if k not in ("income tax", "total"))
    assert found["income tax"] == pytest.approx(-0.21 * spent)


def test_a_building_is_written_off_over_39_years_and_the_rest_by_the_scenario_s_table() -> None:
    """First year of MACRS: 20 % of five-year property (IRS Publication 946, table A-1); 1 / 39 of a
    building.

    Without the lease 31.3 M USD of building and 69.3 M USD of all else are bought, and 4.2 M USD a
    year run them: 0.21 x (4.2 + 0.2 x 69.3 + 31.3 / 39) = 4.0 M USD. Over five years the building
    alone would save 1.3 M USD.
    """
    owned = compared(load(FILE, sets=["sites.colo.lease=null", "sensitivity.inputs=[]"])).owned
    year = {x.label: float(cash[:12].sum()) for x, cash in owned.before_tax.lines.items()}
    building = year.pop("building")
    other = (
        "racks dgx-h200",
        "storage",
        "network",
        "cooling and fit-out",
        "power blocks",
        "sales tax",
    )
    bought = sum(year.pop(name) for name in other)
    written = 0.2 * bought + building / 39
    # building/39 is 0.0256410, its table is rounded to six places
    assert float(owned.after_tax.lines[INCOME_TAX][11]) == pytest.approx(
        -0.21 * (sum(year.values()) + written), rel=1e-5
    )


def test_interest_on_the_loan_saves_its_tax() -> None:
    """Half of 60.5 M USD at 9 % / 12 over 48 months: level payments of P r / (1 - (1 + r)^-48), 47
    within the horizon.

    What the 47 pay beyond the debt that they settle is interest, 5.88 M USD; 21 % of it is saved.
    """
    result = tco(FILE, sets=["sensitivity.inputs=[]", "finance.discount_rate=0"])
    found, r = lines(result, "owned"), 0.09 / 12
    debt = 0.5 * sum(
        found[name][0] for name in ("racks dgx-h200", "storage", "network", "cooling and fit-out")
    )
    each = debt * r / (1 - (1 + r) ** -48)
    interest = 47 * each - (
        debt - each / (1 + r)
    )  # the 48th payment, a month early, is what is still owed
    saved = dict(result.tables["bridge"].rows)["income tax saved by interest"]
    assert saved == pytest.approx(-0.21 * interest, rel=1e-9)


def test_on_demand_is_paid_for_used_hours(result: Result) -> None:
    used = lines(result, "coreweave-h200.on-demand")["accelerators"][0]
    assert used == pytest.approx(1024 * 0.7 * 6.305 * 730.5 * 48)
    busier = tco(FILE, sets=["fleet.utilization_frac=1.0", "sensitivity.inputs=[]"])
    assert lines(busier, "coreweave-h200.on-demand")["accelerators"][0] == pytest.approx(used / 0.7)


def test_break_even_moves_as_it_must(result: Result) -> None:
    months = value(result, "break_even.coreweave-h200.on-demand.months")
    dearer = tco(FILE, sets=["systems.dgx-h200.price_usd=700000", "sensitivity.inputs=[]"])
    assert value(dearer, "break_even.coreweave-h200.on-demand.months") > months
    at = value(result, "break_even.coreweave-h200.on-demand.utilization_frac")
    assert 0.1 < at < 0.7  # owning wins at 70 %
    assert value(dearer, "break_even.coreweave-h200.on-demand.utilization_frac") > at
    cheap = tco(
        FILE, sets=["cloud.prices.coreweave-h200.on_demand_usd_per_h=4", "sensitivity.inputs=[]"]
    )
    assert cheap.metrics["break_even.coreweave-h200.on-demand.months"].value is None
    assert [
        row.break_even_months
        for row in offers.RENTED.rows(cheap.tables["rented"])
        if (row.offer, row.term) == ("coreweave-h200", "on-demand")
    ] == ["never"]


def test_what_cannot_be_compared_is_refused_with_the_place() -> None:
    with pytest.raises(InputError) as error:
        tco(
            FILE,
            sets=[
                "fleet=null",
                "fabric=null",
                "fabrics=all",
                "cloud=null",
                "sensitivity.inputs=[]",
            ],
        )
    causes = [p.cause for p in error.value.problems]
    assert any("fleet" in c for c in causes)
    assert any("cloud" in c for c in causes)
    for change, words in (
        ("fleet.utilization_frac=0", "no work to compare"),
        ("horizon.quarters=30", "not like for like"),
    ):
        with pytest.raises(InputError) as error:
            tco(FILE, sets=[change, "sensitivity.inputs=[]"])
        assert words in error.value.problems[0].cause
    reasons = [w["message"] for w in tco(FILE, sets=["sensitivity.inputs=[]"]).warnings]
    assert any("coreweave-h200 reserved-1y: excluded, no reserved-1y price" in r for r in reasons)


def frame(result: Result, table: str) -> dict[str, dict[str, object]]:
    found = result.tables[table]
    return {str(row[0]): dict(zip(found.columns, row, strict=True)) for row in found.rows}


def number(cells: dict[str, object], column: str) -> float:
    return float(str(cells[column]))


def test_a_bound_of_the_tornado_is_the_answer_there(result: Result) -> None:
    row = frame(result, "tornado")["systems.dgx-h200.price_usd"]
    there = tco(FILE, sets=[f"systems.dgx-h200.price_usd={row['high']}", "sensitivity.inputs=[]"])
    assert number(row, "owned_at_high_usd") == pytest.approx(
        value(there, "owned.npv_usd"), rel=1e-9
    )
    over = value(there, "owned.npv_usd") - value(there, "rented.coreweave-h200.reserved-3y.npv_usd")
    assert number(row, "over_rent_at_high_usd") == pytest.approx(over, rel=1e-9)


def test_the_discount_rate_is_exact_between_its_bounds(result: Result) -> None:
    row = frame(result, "tornado")["finance.discount_rate"]
    there = tco(FILE, sets=["finance.discount_rate=0.12", "sensitivity.inputs=[]"])
    assert (row["low"], row["high"]) == (
        0.08,
        0.12,
    )  # the catalog's bounds: the scenario gives none
    assert number(row, "owned_at_high_usd") == pytest.approx(
        value(there, "owned.npv_usd"), rel=1e-9
    )


def test_samples_come_close_to_the_exact_answer_where_several_inputs_move_at_once() -> None:
    both = compared(load(FILE))
    now, swings = vectors(both), {}
    points = {
        "systems.dgx-h200.price_usd": (312667.0, 330e3, 420e3),
        "fleet.utilization_frac": (0.4, 0.85, 0.9),
        "sites.colo.energy.usd_per_kwh": (0.055, 0.075, 0.08),
    }
    for key, (low, _, high) in points.items():
        moved = [vectors(compared(load(FILE, sets=[f"{key}={x!r}"]))) for x in (low, high)]
        at = float(str(both.log.rows[key].value))
        swings[key] = Swing(
            Marginal(low, at, high), *({n: v[n] - now[n] for n in now} for v in moved)
        )
    drawn = {key: np.array([x]) for key, (_, x, _) in points.items()}
    guessed = sampled_npvs(now, swings, drawn, both.rate)
    exact = tco(
        FILE, sets=[*(f"{key}={x!r}" for key, (_, x, _) in points.items()), "sensitivity.inputs=[]"]
    )
    assert float(guessed["owned"][0]) == pytest.approx(value(exact, "owned.npv_usd"), rel=2e-3)
    name = "coreweave-h200.on-demand"
    assert float(guessed[name][0]) == pytest.approx(
        value(exact, f"rented.{name}.npv_usd"), rel=2e-3
    )


def test_the_spread_holds_every_side_and_who_wins_adds_up(result: Result) -> None:
    rows = frame(result, "risk")
    assert set(rows) == {
        "owned",
        *(
            k.removeprefix("rented.").removesuffix(".npv_usd")
            for k in result.metrics
            if k.startswith("rented.") and k.endswith(".npv_usd")
        ),
    }
    assert sum(number(r, "cheapest_frac") for r in rows.values()) == pytest.approx(1.0)
    for row in rows.values():
        assert number(row, "p5_usd") <= number(row, "p50_usd") <= number(row, "p95_usd")
    again = tco(FILE)
    assert again.tables["risk"].rows == result.tables["risk"].rows


def test_a_switching_value_makes_both_sides_equal() -> None:
    dear = tco(FILE, sets=["prices.dgx-h200.price_usd={value: 350000, low: 300000, high: 600000}"])
    at = number(frame(dear, "tornado")["systems.dgx-h200.price_usd"], "switches_at")
    there = tco(FILE, sets=[f"systems.dgx-h200.price_usd={at!r}", "sensitivity.inputs=[]"])
    best = min(
        value(there, k) for k in there.metrics if k.startswith("rented.") and k.endswith(".npv_usd")
    )
    assert value(there, "owned.npv_usd") == pytest.approx(best, rel=1e-3)


STANDARD = ("finance.discount_rate", "finance.residual", "fleet.utilization_frac")
PLAIN = "sensitivity=null"


@pytest.fixture(scope="module")
def plain() -> Result:
    """The comparison of a scenario that names no inputs."""
    return tco(FILE, sets=[PLAIN])


def test_a_scenario_without_sensitivity_has_both_tornados_and_no_samples(plain: Result) -> None:
    assert set(frame(plain, "tornado")) == set(STANDARD)
    assert set(frame(plain, "token_tornado")) == {*STANDARD, "reference.mfu_frac"}
    assert "risk" not in plain.tables


def test_an_empty_list_of_inputs_leaves_the_tornados_out() -> None:
    found = tco(FILE, sets=["sensitivity.inputs=[]"]).tables
    assert not {"tornado", "token_tornado", "risk"} & set(found)


def test_named_inputs_come_with_the_standard_ones(result: Result) -> None:
    assert set(STANDARD) <= set(frame(result, "tornado"))
    assert "cloud.price_change_frac_per_year" in frame(result, "tornado")
    # a change of rents does not move the cost of owned tokens
    assert "cloud.price_change_frac_per_year" not in frame(result, "token_tornado")


@pytest.mark.parametrize(("end", "share"), [("low", 0.15), ("high", 0.275)])
def test_the_residual_value_at_a_bound_is_the_answer_with_that_curve(
    plain: Result, end: str, share: float
) -> None:
    """Curves of the catalog after four years: 0.15, 0.175 (mid) and 0.275 of the price."""
    row = frame(plain, "tornado")["finance.residual"]
    there = tco(FILE, sets=["sensitivity.inputs=[]", f"finance.residual={end}"])
    assert (row["now"], row[end]) == (pytest.approx(0.175), pytest.approx(share))
    assert number(row, f"owned_at_{end}_usd") == pytest.approx(
        value(there, "owned.npv_usd"), rel=1e-9
    )
    tokens = frame(plain, "token_tornado")["finance.residual"]
    assert number(tokens, f"usd_per_million_tokens_at_{end}") == pytest.approx(
        value(there, "owned.usd_per_million_tokens"), rel=1e-9
    )


def test_a_share_left_at_the_end_of_life_moves_between_the_curves_there() -> None:
    """A life of five years: the low curve leaves 0.1, the high one 0.2; 0.3 is above both."""
    inside = frame(tco(FILE, sets=[PLAIN, "finance.residual=0.12"]), "tornado")["finance.residual"]
    above = frame(tco(FILE, sets=[PLAIN, "finance.residual=0.3"]), "tornado")["finance.residual"]
    assert [inside[x] for x in ("low", "now", "high")] == pytest.approx([0.1, 0.12, 0.2])
    assert [above[x] for x in ("low", "now", "high")] == pytest.approx([0.1, 0.3, 0.3])


def test_tokens_cost_less_in_proportion_to_the_mfu(plain: Result) -> None:
    """The interval of a step time of Megatron Core on Hopper is 5 % wide on either side."""
    row = frame(plain, "token_tornado")["reference.mfu_frac"]
    now, tokens = (value(plain, k) for k in ("reference.mfu_frac", "owned.usd_per_million_tokens"))
    assert [row[x] for x in ("low", "now", "high")] == pytest.approx([now / 1.05, now, now * 1.05])
    assert number(row, "usd_per_million_tokens_at_low") == pytest.approx(tokens * 1.05)
    assert number(row, "usd_per_million_tokens_at_high") == pytest.approx(tokens / 1.05)


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("fleet.utilization_frac", "fleet.utilization_frac=0.9"),
        ("finance.discount_rate", "finance.discount_rate=0.12"),
    ],
)
def test_the_cost_of_tokens_at_a_bound_is_the_answer_there(
    plain: Result, key: str, change: str
) -> None:
    row = frame(plain, "token_tornado")[key]
    there = tco(FILE, sets=["sensitivity.inputs=[]", change])
    assert number(row, "usd_per_million_tokens_at_high") == pytest.approx(
        value(there, "owned.usd_per_million_tokens"), rel=1e-9
    )


def test_a_standard_input_that_moves_no_cost_is_left_out() -> None:
    only = "comparison={only: [owned.racks, rented.accelerators]}"
    found = frame(tco(FILE, sets=[PLAIN, only, "cloud.terms=[reserved-1y]"]), "tornado")
    assert set(found) == {"finance.discount_rate"}  # no residual; a commitment is paid in full
