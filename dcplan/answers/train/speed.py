"""Speed of a run's accelerators: at each precision, at a power limit, and between sites."""

from __future__ import annotations

from dataclasses import replace

from dcplan.answers.train.request import TrainRequest
from dcplan.catalog.schema import Accelerator, Stack, System
from dcplan.errors import InputError, Place, Problem
from dcplan.inputs.log import InputLog
from dcplan.inputs.training.speed import aged, hardware, slowed, with_host
from dcplan.provenance import Quantity, Status
from dcplan.training.estimate import Hardware
from dcplan.training.wide_area import WideArea
from dcplan.units import MILLI


def specs_of(
    request: TrainRequest, system: System, stack: Stack, log: InputLog, *, moe: bool
) -> dict[str, Hardware]:
    """Return the accelerator's data for the search at each precision.

    Unsupported precisions are rejected together.
    """
    specs, refused = {}, []
    row = log.catalog.get("accelerators", system.accelerator, Accelerator)
    gb_per_s = _gb_per_s(request, system)
    for precision in request.precision:
        spec = hardware(row.id, precision, gb_per_s, log, moe=moe, stack=stack.label)
        if isinstance(spec, str):
            next_step = f"dcplan catalog show accelerators {row.id}"
            refused.append(Problem("DC010", spec, Place("train"), help=next_step))
        else:
            device = replace(spec.device, in_network=float(request.in_network_reduction))
            spec = aged(replace(spec, device=device), row, request.start, log)
            spec = with_host(spec, system, log, typed="offload" in (request.layout or ""))
            specs[precision] = at_power(spec, request.power_limit_frac, log)
    if refused:
        raise InputError(refused)
    return specs


def at_power(spec: Hardware, power_frac: float, log: InputLog) -> Hardware:
    r"""Return an accelerator limited to a share of its TDP.

    Matrix products and attention slow down as :math:`p^a`; memory-bound kernels, limited by HBM, do
    not.
    """
    if power_frac >= 1.0:
        return spec
    slower = power_frac ** log.parameter("power", "gemm-power-exponent")
    return slowed(spec, slower)


def _gb_per_s(request: TrainRequest, system: System) -> float:
    """Return the scale-out bandwidth of one accelerator; 0 selects the family's class value.

    If the number of ports is unknown, each accelerator has one.
    """
    own = system.scaleout_port_gbps.value if system.scaleout_port_gbps else 0.0
    ports = system.scaleout_ports / system.accelerators if system.scaleout_ports else 1.0
    return ports * (request.nic_port_gbps or own) / 8.0


def wide_area(request: TrainRequest, log: InputLog) -> WideArea | None:
    """Return the terms of training across sites; None for one site."""
    if request.wan_sites == 1 or request.wan_gbps is None:
        return None
    return WideArea(
        request.wan_sites,
        request.local_steps,
        request.wan_gbps,
        request.sync_bytes_per_param,
        _one_way_s(request, log),
        overlapped=request.wan_overlap,
    )


def _one_way_s(request: TrainRequest, log: InputLog) -> float:
    """Return the latency between two sites: half of the given round trip, or the catalog's."""
    if request.wan_rtt_ms is None:
        return log.parameter("training", "wide-area-latency-s")
    half = Quantity(value=request.wan_rtt_ms * MILLI / 2.0, status=Status.INPUT)
    return log.take("training.wide-area-latency-s", half)
