"""PUE of a plan's hall: losses of the power chain, and one air share, as ``dcplan facility`` has them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from dcplan.answers.facility.answer import facility
from dcplan.catalog.loader import load as load_catalog
from dcplan.catalog.schema import CoolingOption, System
from dcplan.errors import InputError
from dcplan.inputs.heat_paths import most_air, room_air_frac
from dcplan.planning.problem.build import Built, build
from dcplan.scenario.load import load

POD = "cases/superpod-gb300"
"""9,216 GPUs in one hall of 22 MW in Ashburn."""
HALL = "sites.design.halls.hall"
CATALOG = load_catalog()


def built(*sets: str) -> Built:
    return build(load(POD, sets=sets))


def cooled(*sets: str) -> tuple[float, float, float | None]:
    found = built(*sets).problem.halls[0].coolings[0]
    return found.pue, found.peak_pue, found.wue_l_per_kwh


@pytest.mark.parametrize("cooling", ["direct-liquid-tower", "direct-liquid-dry-cooler"])
@pytest.mark.parametrize("rule", ["n", "n+1", "2n", "4n/3"])
def test_plan_and_facility_print_the_same_pue(cooling: str, rule: str) -> None:
    own = cooled(f"{HALL}.cooling=[{cooling}]", f"sites.design.power.redundancy={rule}")
    rules = {"redundancy": rule, "other_redundancy": rule}
    asked = {"site": "us-ashburn", "cooling": cooling, "system": "gb300-nvl72", "it_mw": 22.0}
    hall = facility(**asked, **rules)
    keys = ("power.annual_pue", "power.peak_pue", "water.annual_wue_l_per_kwh")
    assert own == pytest.approx([hall.value(key) for key in keys], abs=1e-9)


@pytest.mark.parametrize("it_mw", [3.0, 6.0])
def test_small_halls_have_the_pue_of_facility(it_mw: float) -> None:
    """Below 10 MW lighting follows the floor of the racks: 0.05 % of GB300 instead of 3.5 %."""
    own = cooled(f"{HALL}.cooling=[direct-liquid-dry-cooler]", f"{HALL}.it_mw={it_mw}")
    hall = facility(
        site="us-ashburn", cooling="direct-liquid-dry-cooler", system="gb300-nvl72", it_mw=it_mw
    )
    keys = ("power.annual_pue", "power.peak_pue", "water.annual_wue_l_per_kwh")
    assert own == pytest.approx([hall.value(key) for key in keys], abs=1e-9)
    other = facility(
        site="us-ashburn", cooling="direct-liquid-dry-cooler", it_mw=it_mw, supply_c=36.0
    )
    bare = facility(
        site="us-ashburn",
        cooling="direct-liquid-dry-cooler",
        it_mw=it_mw,
        supply_c=36.0,
        liquid_frac=0.9,
        system="gb300-nvl72",
    )
    assert other.value("power.annual_pue") > bare.value("power.annual_pue") + 0.01


@pytest.mark.parametrize("ups", ["double-conversion", "eco", "rack", "none"])
@pytest.mark.parametrize("rule", ["n", "2n"])
def test_an_existing_hall_states_its_own_chain(rule: str, ups: str) -> None:
    """The site's blocks stay N+1 with a UPS; the hall's PUE is that of ``facility`` with its own."""
    own = {"redundancy": rule, "ups": ups}
    found = built(
        f"{HALL}.existing=true", *(f"{HALL}.power.{key}={value}" for key, value in own.items())
    )
    hall = facility(
        site="us-ashburn",
        cooling="direct-liquid-tower",
        system="gb300-nvl72",
        it_mw=22.0,
        **own,
        **{f"other_{key}": value for key, value in own.items()},
    )
    cooling = found.problem.halls[0].coolings[0]
    assert cooling.pue == pytest.approx(hall.value("power.annual_pue"), abs=1e-9)
    assert cooling.peak_pue == pytest.approx(hall.value("power.peak_pue"), abs=1e-9)
    assert found.problem.halls[0].redundancy == rule
    assert found.problem.sites[0].redundancy == "n+1"
    assert found.log.rows[f"{HALL}.power.ups"].status == "input"


def test_a_site_states_its_ups() -> None:
    """Batteries in the racks of a new hall: as ``facility`` with them, 2 to 4 points below a UPS."""
    own = cooled("sites.design.power.ups=rack")
    hall = facility(
        site="us-ashburn",
        cooling="direct-liquid-tower",
        system="gb300-nvl72",
        it_mw=22.0,
        ups="rack",
        other_ups="rack",
    )
    assert own[0] == pytest.approx(hall.value("power.annual_pue"), abs=1e-9)
    assert 0.02 < cooled()[0] - own[0] < 0.04


@pytest.mark.parametrize(
    ("sets", "text"),
    [
        (
            [f"{HALL}.existing=false", f"{HALL}.power.ups=rack"],
            "a new hall has the power blocks of its site",
        ),
        (
            [
                f"{HALL}.existing=true",
                f"{HALL}.power.ups=rack",
                f"{HALL}.pue=1.2",
                f"{HALL}.peak_pue=1.3",
            ],
            "power.ups has no effect",
        ),
        ([f"{HALL}.power.ups=racks"], "double-conversion"),
    ],
)
def test_a_chain_that_changes_nothing_is_refused(sets: Sequence[str], text: str) -> None:
    with pytest.raises(InputError, match=text):
        built(*sets)


@pytest.mark.parametrize(
    "cooling", ["airside-economizer-water-chiller", "waterside-economizer", "rear-door-tower"]
)
def test_air_cooled_halls_agree_too(cooling: str) -> None:
    """Options of the table, air handlers and doors; a hall of 6 MW is between two size classes."""
    change = (
        "fleet.system=dgx-h200",
        "fleet.accelerators=256",
        "fabric.id=ib-ndr-400",
        f"{HALL}.cooling=[{cooling}]",
        f"{HALL}.it_mw=6",
    )
    hall = facility(site="us-ashburn", cooling=cooling, system="dgx-h200", it_mw=6.0)
    keys = ("power.annual_pue", "power.peak_pue", "water.annual_wue_l_per_kwh")
    assert cooled(*change) == pytest.approx([hall.value(key) for key in keys], abs=1e-9)


def test_losses_of_a_hall_by_hand() -> None:
    """22 MW, a tenth of it in network and storage, N+1 blocks of 2.5 MW.

    19.8 MW are on 9 blocks, x = 0.88. Busways take 0.88 x 1.0088 = 0.887744; the UPS loses 0.012 +
    0.019 x 0.788089 = 0.026974 and takes 0.914718; transformers lose 0.002 + 0.01 x 0.836708 =
    0.010367 and take 0.925085, losses of 0.925085 / 0.88 - 1 = 0.051233. 2.2 MW are on two blocks of
    2.2, x = 0.5: 0.5025, 0.5025 + 0.016798 = 0.519298, 0.519298 + 0.004697 = 0.523994, losses of
    0.047989. Together 0.9 x 0.051233 + 0.1 x 0.047989 = 0.050908. By the size class they were
    1 / (0.945 x 0.99) - 1 = 0.068890.
    """
    row = built().log.rows[f"{HALL}.electrical_losses_frac"]
    assert row.value == pytest.approx(0.050908, abs=2e-6)
    assert row.status == "derived"


def test_the_table_has_the_losses_of_the_chain_instead_of_the_class() -> None:
    """Outside air and water chillers in zone 4A, a large hall: PUE 1.15 of the table, less
    1 / (0.945 x 0.99) - 1 = 0.068890 of the size class, more 0.050908 of the chain."""
    change = ("fleet.system=dgx-h200", "fleet.accelerators=256", "fabric.id=ib-ndr-400")
    option = "airside-economizer-water-chiller"
    found = built(*change, f"{HALL}.cooling=[{option}]")
    table = found.log.rows[f"pue.{option}-large-4a.pue"].value
    assert found.problem.halls[0].coolings[0].pue == pytest.approx(
        float(table) - 0.068890 + 0.050908, abs=3e-6
    )


def test_two_sides_lose_less_in_the_busway_and_more_in_the_ups() -> None:
    """2N of 19.8 MW are 16 blocks, x = 0.495: 0.497450, 0.514152, 0.518795, losses of
    0.048072; of 2.2 MW two, x = 0.5, 0.047989 as under N+1. 0.9 x 0.048072 + 0.0047989 = 0.048064."""
    row = built("sites.design.power.redundancy=2n").log.rows[f"{HALL}.electrical_losses_frac"]
    assert row.value == pytest.approx(0.048064, abs=3e-6)


def test_own_blocks_change_the_load_of_a_block() -> None:
    """Blocks of 5 MW under N+1: 19.8 MW on five, x = 0.792, instead of nine at 0.88."""
    losses = [
        float(built(*change).log.rows[f"{HALL}.electrical_losses_frac"].value)
        for change in ((), ("sites.design.power.block_mw=5",))
    ]
    assert losses[1] < losses[0]
    assert cooled("sites.design.power.block_mw=5")[0] < cooled()[0]


def test_modules_share_the_blocks_of_the_hall() -> None:
    assert cooled(f"{HALL}.modules=4") == pytest.approx(cooled(), abs=1e-12)


def test_an_own_pue_takes_neither_losses_nor_air_share() -> None:
    found = built(f"{HALL}.pue=1.2", f"{HALL}.peak_pue=1.3")
    own = found.problem.halls[0].coolings[0]
    assert (own.pue, own.peak_pue) == (1.2, 1.3)
    assert f"{HALL}.electrical_losses_frac" not in found.log.rows
    assert f"{HALL}.direct-liquid-tower.room_air_frac" not in found.log.rows


def test_each_system_has_the_pue_of_a_hall_of_its_own() -> None:
    """A hall that may hold GB300 and MI355X: racks of each have what ``facility`` says for it alone.

    Network and storage, the shell and the chillers follow MI355X, whose racks heat more air: its
    air share is 1 - 0.9 x 0.75 = 0.325, that of GB300 1 - 0.9 x 0.9 = 0.19.
    """
    systems = ("gb300-nvl72", "mi355x-8-dlc")
    option = "direct-liquid-dry-cooler"
    found = built(f"systems=[{', '.join(systems)}]", f"{HALL}.cooling=[{option}]")
    hall = found.problem.halls[0]
    keys = ("power.annual_pue", "power.peak_pue", "water.annual_wue_l_per_kwh")
    for system in systems:
        alone = facility(site="us-ashburn", cooling=option, system=system, it_mw=22.0)
        own = found.problem.cooled((hall.id, option, system))
        rates = (own.pue, own.peak_pue, own.wue_l_per_kwh)
        assert rates == pytest.approx([alone.value(key) for key in keys], abs=1e-9)
    lean, full = (found.problem.cooled((hall.id, option, system)) for system in systems)
    assert full == found.problem.cooled((hall.id, option, "")) == hall.coolings[0].other
    assert full.pue - lean.pue > 0.005
    assert full.peak_pue - lean.peak_pue > 0.02
    row = found.log.rows[f"{HALL}.{option}.gb300-nvl72.pue"]
    assert (row.value, row.status) == (lean.pue, "derived")


def test_a_stated_pue_holds_for_all_systems() -> None:
    sets = ("systems=[gb300-nvl72, mi355x-8-dlc]", f"{HALL}.pue=1.2", f"{HALL}.peak_pue=1.3")
    hall = built(*sets, f"{HALL}.wue_l_per_kwh=0.5").problem.halls[0]
    assert all(not c.by_system for c in hall.coolings)


def test_a_plan_has_the_air_share_of_its_systems() -> None:
    """GB300: a tenth of the power in network and storage, 90 % of the rest in liquid: 0.19."""
    key = f"{HALL}.direct-liquid-tower.room_air_frac"
    row = built().log.rows[key]
    assert row.value == pytest.approx(0.19)
    assert row.status == "derived"
    both = built("systems=[gb300-nvl72, mi355x-8-dlc]").log.rows[key]
    assert both.value == pytest.approx(1 - 0.9 * 0.75)
    assert "mi355x-8-dlc" in str(both.source)


@pytest.mark.parametrize(
    ("names", "option", "share"),
    [
        (["gb300-nvl72"], "direct-liquid-tower", 1 - 0.9 * 0.9),
        (["gb300-nvl72", "mi355x-8-dlc"], "direct-liquid-tower", 1 - 0.9 * 0.75),
        (
            ["gb300-nvl72", "dgx-h200"],
            "direct-liquid-tower",
            1 - 0.9 * 0.9,
        ),  # what plates do not take
        (["dgx-h200"], "direct-liquid-tower", 1.0),
        ([], "direct-liquid-tower", 0.13),
        (["gb300-nvl72", "dgx-h200"], "rear-door-tower", 0.0),
        (["dgx-h200"], "waterside-economizer", 1.0),
        (["gb300-nvl72", "dgx-h200"], "immersion-single-tower", 0.1),
    ],
)
def test_air_share_of_a_hall_of_several_systems(
    names: Sequence[str], option: str, share: float
) -> None:
    rows = [CATALOG.get("systems", name, System) for name in names]
    row = CATALOG.get("cooling", option, CoolingOption)
    found = most_air(rows, row, 0.1)
    assert room_air_frac(found, row, 0.1) == pytest.approx(share)


@pytest.mark.parametrize("system", ["mi455x-helios-72", "mi355x-8-dlc"])
def test_every_liquid_cooled_system_has_the_water_of_a_design(system: str) -> None:
    """A plan takes the usual water of the option; a system without a stated limit has it too."""
    found = facility(site="us-ashburn", cooling="direct-liquid-tower", system=system, it_mw=22.0)
    assert "facility water at 26 °C" in found.headline
