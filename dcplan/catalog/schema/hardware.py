"""Accelerators and the systems that carry them."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from dcplan.catalog.schema.base import QuarterName, Row
from dcplan.catalog.schema.training import TrainingTerms
from dcplan.provenance import Fraction, NonNegative, Positive

PRECISIONS = ("fp32", "tf32", "bf16", "fp16", "fp8", "fp6", "fp4")
Cooling = Literal["air", "liquid"]
Protocol = Literal["infiniband", "ethernet", "slingshot", "efa", "ici"]


class Accelerator(Row):
    """One accelerator package. Peaks are dense; scale-up bandwidth is one-way and decimal."""

    generation: str | None = None
    """Vendor's architecture name."""
    kind: Literal["gpu", "tpu", "wafer", "asic"] = "gpu"
    """Which training model it takes: collectives of GPUs, a TPU torus, one wafer, another ASIC."""
    available_from: QuarterName | None = None
    """First quarter of general availability."""
    fp32_tflops: Positive | None = None
    """Dense peak of matrix units in 32 bit."""
    tf32_tflops: Positive | None = None
    """Dense peak in TF32."""
    bf16_tflops: Positive | None = None
    """Dense peak in bfloat16."""
    fp16_tflops: Positive | None = None
    """Dense peak in float16."""
    fp8_tflops: Positive | None = None
    """Dense peak in 8-bit floating point."""
    fp6_tflops: Positive | None = None
    """Dense peak in 6-bit floating point."""
    fp4_tflops: Positive | None = None
    """Dense peak in 4-bit floating point."""
    int8_tops: Positive | None = None
    """Dense peak in 8-bit integers."""
    vendor_headline: str | None = None
    """Figure of the vendor's own headline, sparse ones included."""
    dense_basis: str | None = None
    """How the dense peak follows from what the vendor states."""
    fp8_ratio_reason: str | None = None
    """Why dense FP8 : BF16 is not 2.0 ± 3 %; a row without it is refused by ``catalog check``."""
    hbm_gb: Positive | None = None
    """Memory of one package."""
    hbm_tb_per_s: Positive | None = None
    """Peak memory bandwidth."""
    scaleup_gb_per_s: Positive | None = None
    """Bandwidth of one accelerator into its scale-up domain (NVLink, xGMI, ICI), one way."""
    scaleup_domain: int | None = Field(default=None, ge=1)
    """Accelerators that share it."""
    torus: Literal["2d", "3d-cubes"] | None = None
    """Of chips joined to each other: one flat torus, or cubes of 64 behind optical circuit
    switches."""
    tdp_kw: Positive | None = None
    """Thermal design power of one package."""
    price_usd: Positive | None = None
    """Price of one package."""
    family: str | None = None
    """Row of ``families`` that its training speed comes from."""
    training: TrainingTerms = TrainingTerms()
    """Achievable speeds that differ from the family's."""


class AverageKw(BaseModel):
    """Average electrical power of one unit by state; this alone makes energy."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    training: Positive | None = None
    """While a training run computes."""
    research: Positive | None = None
    """In mixed research use."""
    idle: Positive | None = None
    """Powered, without work."""


class System(Row):
    """What is ordered: a server, a rack or a pod, with its three kW.

    All figures are for one unit. ``racks`` is how many rack positions a rack or pod unit takes;
    a server has 0 and its nodes per rack are derived from the hall.
    """

    accelerator: str
    """Row of accelerators."""
    accelerators: int = Field(ge=1)
    """Of one unit."""
    form: Literal["server", "rack", "pod"]
    """A server in a rack with others, or a unit that is whole racks."""
    racks: int = Field(default=0, ge=0)
    """Rack positions of one unit; 0 for a server."""
    rack_units: Positive | None = None
    """Height of a server."""
    rated_kw: Positive | None = None
    """Sustained maximum of one unit (TDP): rack fit, hall power, cooling."""
    peak_kw: Positive | None = None
    """Electrical design peak of one unit: breakers and busway."""
    average_kw: AverageKw = AverageKw()
    """Means by state, for energy."""
    weight_kg: Positive | None = None
    """Of one unit."""
    cooling_modes: tuple[Cooling, ...] = Field(min_length=1)
    """What it needs of the hall."""
    liquid_frac: Fraction | None = None
    """Share of its heat that leaves by liquid."""
    coolant_supply_max_c: Positive | None = None
    """Warmest coolant that it takes."""
    scaleout_ports: int | None = Field(default=None, ge=1)
    """Scale-out NIC ports of one unit."""
    scaleout_port_gbps: Positive | None = None
    """Rate of such a port."""
    scaleout_rails: int | None = Field(default=None, ge=1)
    """NICs of one node (compute tray), that is rails of a rail-optimized fabric."""
    scaleout_ports_per_cage: int = Field(default=1, ge=1)
    """NIC ports behind one transceiver of a node; 2 where cages are twin-port."""
    nodes_per_rack: int | None = Field(default=None, ge=1)
    """Nodes of a rack in the vendor's reference design."""
    nodes_per_su: int | None = Field(default=None, ge=1)
    """Nodes of one scalable unit: a leaf group is bought whole for it."""
    protocols: tuple[Protocol, ...] = ()
    """Scale-out protocols of its NICs."""
    nic: str | None = None
    """Row of nics."""
    price_usd: Positive | None = None
    """Price of one unit."""
    release: QuarterName | None = None
    """First quarter of delivery."""
    lead_quarters: int | None = Field(default=None, ge=0)
    """From order to service; left out, 1."""
    sold: bool = True
    """Whether it can be bought."""
    not_sold_reason: str | None = None
    """Why not."""
    embodied_kg: NonNegative | None = None
    """CO2 of making one unit."""
