"""Networks that a maker sells with its systems, pods in slices, and rents with conditions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dcplan.catalog.loader import load as load_catalog
from dcplan.fabric.bom import Parts, bill
from dcplan.fabric.topology.connected import Nodes, connect
from dcplan.fabric.topology.design import ClosDesign, design
from dcplan.inputs.cloud_prices import OfferTerms, row_of
from dcplan.inputs.log import InputLog
from dcplan.inputs.recovery import reclaimed
from dcplan.inputs.training.speed import hardware, in_instance
from dcplan.planning.audit.facts import differences
from dcplan.planning.problem.build import Built, build
from dcplan.planning.problem.fabrics.network_steps import link_usd, plain_steps
from dcplan.planning.problem.work.targets import targets
from dcplan.reliability.job import Machine, Policy
from dcplan.scenario.load import load
from dcplan.training.estimate import Hardware

TEXT = """
dcplan: 1
name: own
horizon: {start: 2027-Q1, quarters: 4}
sites:
  - id: ashburn
    location: us-ashburn
    utility_mw: 10
    halls: [{id: h, racks: 60, rack_kw_max: 200, it_mw: 6, cooling: [direct-liquid-tower]}]
systems: [SYSTEM]
fabrics: [eth-400]
prices:
  tpu7x-cube:
    rated_kw: 100
    price_usd: 1.5e6
    own_network: {name: "optical circuit switches", usd: 60000, kw: 3}
cloud: {offers: [OFFERS], terms: [on-demand, spot, capacity-block]}
workloads:
  training:
    - id: m
      model: llama-3.1-8b
      tokens: 1e11
      seq_len: 8192
      global_batch_tokens: 4e6
      precision: [bf16]
      start: 2027-Q1
      deadline_days: 180
objective: min_cost
"""


def _built(tmp_path: Path, system: str = "tpu7x-cube", offers: str = "aws-p5-48xlarge") -> Built:
    file = tmp_path / "own.yaml"
    file.write_text(TEXT.replace("SYSTEM", system).replace("OFFERS", offers), encoding="utf-8")
    return build(load(file))


def test_price_and_power_of_a_unit_include_its_share_of_the_own_network(tmp_path: Path) -> None:
    """1.5 M and 60 k USD; 100 and 3 kW. The audit finds the same from the rows."""
    built = _built(tmp_path)
    (place,) = built.problem.placements
    assert place.price_usd == pytest.approx(1_560_000)
    assert place.rated_kw == pytest.approx(103)
    question = load(tmp_path / "own.yaml")
    assert differences(built.problem, question, [place.key]) == []
    wrong = replace(built.problem, placements=(replace(place, price_usd=place.price_usd - 60_000),))
    assert differences(wrong, question, [place.key]) != []


def test_a_pod_is_ordered_in_the_cubes_that_are_a_row(tmp_path: Path) -> None:
    """An Ironwood superpod has 9,216 chips; a cube of 64 can be ordered alone."""
    built = _built(tmp_path, system="tpu7x-superpod")
    assert {p.system for p in built.problem.placements} == {"tpu7x-cube"}
    assert {p.accelerators for p in built.problem.placements} == {64}
    (why,) = [x.reason for x in built.problem.excluded if x.id == "tpu7x-superpod"]
    assert "tpu7x-cube" in why


def test_reclaims_add_to_the_stops_and_their_wait_to_the_restarts() -> None:
    """One reclaim a day of an instance of 8 is 0.125 per accelerator; other stops are 0.125 too, so
    half of all stops wait 2 h more: restarts take 1 h longer in the mean."""
    part = Machine((0.1, 0.125, 0.2), 0.0, 0.0, 1.0, 8, 1, 1.0, 0)
    plain = dict.fromkeys(Policy.__dataclass_fields__, 0.0)
    rules = replace(Policy(**plain), restart_h=(0.5, 1.0, 2.0))  # type: ignore[arg-type]
    spot, wait = reclaimed(part, rules, 1.0 / 24.0, 2.0)
    assert spot.stops_per_day == pytest.approx((0.225, 0.25, 0.325))
    assert wait.restart_h == pytest.approx((1.5, 2.0, 3.0))


def _offer(built: Built, name: str) -> OfferTerms:
    return next(o for o in built.problem.offers if o.id == name)


def test_a_run_without_a_network_stays_in_one_instance(tmp_path: Path) -> None:
    """Akash lists single GPUs without a network; AWS prints 3,200 Gb/s for an instance of 8."""
    built = _built(tmp_path, offers="akash-h100, aws-p5-48xlarge")
    alone, joined = _offer(built, "akash-h100"), _offer(built, "aws-p5-48xlarge")
    assert (alone.most_per_job, joined.most_per_job) == (1, None)
    assert joined.gb_per_s == pytest.approx(3200 / 8 / 8)  # 8 GPUs, 8 bits a byte
    sizes = {t.place: t.limit for t in targets([], [], {}, (alone, joined))}
    assert sizes == {"cloud:akash-h100": 1, "cloud:aws-p5-48xlarge": 512}


def test_a_capacity_block_serves_runs_of_at_most_half_a_year(tmp_path: Path) -> None:
    built = _built(tmp_path, offers="aws-p5-48xlarge")
    block = _offer(built, "aws-p5-48xlarge/capacity-block")
    assert (row_of(block.id), block.longest_days) == ("aws-p5-48xlarge", 182)
    runs = [
        r for r in built.problem.run_options if r.place == "cloud:aws-p5-48xlarge/capacity-block"
    ]
    assert runs
    assert all(r.days <= 182 for r in runs)


def test_the_same_run_takes_longer_on_spot(tmp_path: Path) -> None:
    """Reclaims lengthen a run of the same size; the price of an hour is lower."""
    built = _built(tmp_path, offers="nebius-h100")
    best: dict[tuple[str, int], float] = {}
    for r in built.problem.run_options:
        if r.on_cloud:
            key = (r.place, r.used)
            best[key] = min(best.get(key, r.days), r.days)
    both = {n for place, n in best if place.endswith("/spot")} & {
        n for place, n in best if not place.endswith("/spot")
    }
    assert both
    for n in both:
        assert best["cloud:nebius-h100/spot", n] > best["cloud:nebius-h100", n]


def test_a_given_peak_gets_the_own_network_too(tmp_path: Path) -> None:
    """120 kW of peak and 3 kW of the network; the audit computes the same."""
    file = tmp_path / "own.yaml"
    text = TEXT.replace("SYSTEM", "tpu7x-cube").replace("OFFERS", "aws-p5-48xlarge")
    file.write_text(text.replace("rated_kw: 100", "rated_kw: 100\n    peak_kw: 120"))
    built = build(load(file))
    (place,) = built.problem.placements
    assert place.peak_kw == pytest.approx(123)
    assert differences(built.problem, load(file), [place.key]) == []


def test_terms_of_a_vendor_for_a_pod_apply_to_its_cubes(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    text = TEXT.replace("SYSTEM", "tpu7x-superpod").replace("OFFERS", "aws-p5-48xlarge")
    supply = "supply: [{system: tpu7x-superpod, racks_per_quarter: 2, lead_quarters: 3}]\n"
    file.write_text(text + supply)
    built = build(load(file))
    assert [(s.system, s.racks[0]) for s in built.problem.supply] == [("tpu7x-cube", 2.0)]
    assert {p.lead for p in built.problem.placements} == {3}


def test_spot_is_in_the_region_of_its_own_price(tmp_path: Path) -> None:
    """Nearest to Madrid, AWS lists the instance on demand in eu-south-2, and spot in eu-north-1."""
    file = tmp_path / "madrid.yaml"
    text = TEXT.replace("SYSTEM", "tpu7x-cube").replace("OFFERS", "aws-p5en-48xlarge")
    file.write_text(text.replace("us-ashburn", "es-madrid"), encoding="utf-8")
    built = build(load(file))
    regions = [_offer(built, x).region for x in ("aws-p5en-48xlarge", "aws-p5en-48xlarge/spot")]
    assert regions == ["eu-south-2", "eu-north-1"]


def test_a_rented_part_of_a_server_is_a_small_scale_up_domain() -> None:
    """One GPU of a server of eight has no NVLink neighbor; pods and racks keep their domain."""
    log = InputLog(load_catalog())
    spec = hardware("h100-sxm", "bf16", 50.0, log, moe=False)
    assert isinstance(spec, Hardware)
    assert (spec.device.domain, in_instance(spec, 1).device.domain) == (8, 1)
    rack = hardware("gb200", "bf16", 50.0, log, moe=False)
    assert isinstance(rack, Hardware)
    assert in_instance(rack, 4).device.domain == 72


def test_more_systems_do_not_shorten_the_reach_of_a_class(tmp_path: Path) -> None:
    """Each class of NICs has a network of its own."""
    text = TEXT.replace("OFFERS", "aws-p5-48xlarge").replace("eth-400", "ib-ndr-400")
    text = text.replace("direct-liquid-tower", "rear-door-tower")
    reach = []
    for systems in ("dgx-h200", "dgx-h200, hgx-h200-8, h100-nvl-8"):
        file = tmp_path / f"{len(systems)}.yaml"
        file.write_text(text.replace("SYSTEM", systems))
        problem = build(load(file)).problem
        (own,) = {p.port_class for p in problem.placements if p.system == "dgx-h200"}
        reach.append({o.id: o.reach[own] for o in problem.fabrics if own in o.reach})
    assert reach[0] == reach[1]
    assert all(reach[0].values())


@pytest.mark.parametrize("topology", ["rail-only", "scheduled"])
def test_steps_of_a_network_without_units_never_exceed_its_exact_cost(topology: str) -> None:
    """The step cost of P ports is a lower bound, and exact where all switches are full."""
    parts = Parts(60e3, 60e3, 60e3, 1.0, 1.0, 1.0, 2.0, 800.0, 0.016, 2, 400.0, 0.009, 20.0)
    plan = design(64, 2) if topology == "rail-only" else ClosDesign(56, 2, 1, 36, 20, 128, 128)
    rails, most = 8, 4096
    steps = plain_steps(topology, plan, parts, rails, most)
    each = link_usd(plan, parts)
    for ports in range(rails, most + 1, 8 * rails):
        counts, fills = connect(topology, plan, 1, [Nodes(ports // rails, rails)])
        exact = bill(counts, parts, fills).capex_usd
        step = next(s for s in steps if s.most >= ports)
        assert each * ports + step.bill.capex_usd <= exact * (1 + 1e-9)


def test_a_demand_on_a_reference_job_needs_a_network_between_instances(tmp_path: Path) -> None:
    """Single GPUs without a network cannot run the reference job, so they count nothing."""
    text = TEXT.replace("SYSTEM", "tpu7x-cube").replace("OFFERS", "akash-h100, aws-p5-48xlarge")
    work = """workloads:
  capacity:
    - id: research
      pflops_delivered: 10
      utilization_frac: 0.5
      reference: {model: llama-3.1-70b, seq_len: 8192, precision: bf16}
objective: min_cost
"""
    file = tmp_path / "reference.yaml"
    file.write_text(text[: text.index("workloads:")] + work, encoding="utf-8")
    problem = build(load(file)).problem
    places = {place for place, _ in problem.demands[0].each}
    assert "cloud:aws-p5-48xlarge" in places
    assert "cloud:akash-h100" not in places
    assert any(x.id == "research" and "akash-h100" in x.reason for x in problem.excluded)
