"""Accelerators, and the systems that contain them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from dcplan.catalog.schema.base import QuarterName, Row, Source, Strict
from dcplan.catalog.schema.ranges import Fraction, NonNegative, Positive
from dcplan.catalog.schema.training import TrainingTerms

PRECISIONS = ("fp32", "tf32", "bf16", "fp16", "fp8", "fp6", "fp4")
Cooling = Literal["air", "liquid", "immersion"]
Protocol = Literal["infiniband", "ethernet", "slingshot", "efa", "ici"]


class Accelerator(Row):
    """One accelerator package. Peaks are dense; scale-up bandwidth is one-way and decimal."""

    generation: str | None = None
    """Vendor's architecture name."""
    kind: Literal["gpu", "tpu", "wafer", "asic"] = "gpu"
    """Kind of accelerator, which selects the training model: GPU, TPU torus, wafer, other ASIC."""
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
    """Performance figure that the vendor advertises, including sparse figures."""
    dense_basis: str | None = None
    """Derivation of the dense peak from the vendor's figures."""
    fp8_ratio_reason: str | None = None
    """Reason why dense FP8 : BF16 is not 2.0 ± 3 %; ``catalog check`` requires it in that case."""
    hbm_gb: Positive | None = None
    """Memory of one accelerator package."""
    usable_hbm_gb: Positive | None = None
    """Memory of one package that programs can allocate in total, as the runtime reports it (CUDA,
    HIP, XLA), in decimal GB. Default: `hbm_gb`."""
    hbm_tb_per_s: Positive | None = None
    """Peak memory bandwidth."""
    scaleup_gb_per_s: Positive | None = None
    """Bandwidth of one accelerator into its scale-up domain (NVLink, xGMI, ICI), one way."""
    scaleup_domain: int | None = Field(default=None, ge=1)
    """Accelerators in one scale-up domain."""
    torus: Literal["2d", "3d-cubes"] | None = None
    """Topology of directly connected chips: one flat torus, or cubes of 64 chips behind optical
    circuit switches."""
    tdp_kw: Positive | None = None
    """Thermal design power of one package."""
    power_limit_frac: Fraction | None = None
    """Power limit of the package over the design power of its silicon; matrix products slow down."""
    price_usd: Positive | None = None
    """Price of one package."""
    family: str | None = None
    """Row of ``families`` that defines its training speed."""
    training: TrainingTerms = TrainingTerms()
    """Achievable speeds that differ from those of the family."""


class AverageKw(Strict):
    """Average electrical power of one unit by state; only these values determine energy."""

    training: Positive | None = None
    """Power during a training run."""
    research: Positive | None = None
    """Power in mixed research use."""
    idle: Positive | None = None
    """Power when idle."""


class OwnNetwork(Strict):
    """Network that the maker sells with the system and that connects its units, such as the optical
    circuit switches of a TPU pod. It is not a scale-out fabric, which a plan chooses.
    """

    name: str
    """Name of the network."""
    usd: NonNegative
    """Price of its share of one unit, in addition to the price of the unit; 0 if that includes it."""
    kw: NonNegative
    """Power of its share of one unit, in addition to the rated power; 0 if that includes it."""


class ImmersionStatement(Strict):
    """Statement of the maker on immersion cooling of a system."""

    allowed: bool
    """Whether the maker states that the system runs in a tank, with its warranty."""
    source: Source
    """Source of the statement."""


class System(Row):
    """A product to order: a server, a rack or a pod, with rated, peak and average power.

    All figures are for one unit. ``racks`` is the number of rack positions of a rack or pod;
    a server has 0 and its nodes per rack are derived from the hall.
    """

    accelerator: str
    """Row of the catalog kind accelerators."""
    accelerators: int = Field(ge=1)
    """Number of accelerators in one unit."""
    form: Literal["server", "rack", "pod"]
    """Form: a server that shares a rack, or a unit of complete racks."""
    racks: int = Field(default=0, ge=0)
    """Rack positions of one unit; 0 for a server."""
    rack_units: Positive | None = None
    """Height of a server."""
    rated_kw: Positive | None = None
    """Sustained maximum of one unit (TDP): rack fit, hall power, cooling."""
    peak_kw: Positive | None = None
    """Electrical design peak of one unit: breakers and busway."""
    average_kw: AverageKw = AverageKw()
    """Average power by state, for energy."""
    weight_kg: Positive | None = None
    """Weight of one unit."""
    cooling_modes: tuple[Cooling, ...] = Field(min_length=1)
    """Cooling modes that the system needs from the hall."""
    liquid_frac: Fraction | None = None
    """Share of its heat that liquid cooling removes."""
    coolant_supply_max_c: Positive | None = None
    """Maximum coolant supply temperature."""
    fan_frac: Fraction | None = None
    """Share of its power that fans use; a conversion for immersion removes them. Default:
    `facility/server-fan-air-frac`."""
    immersion: ImmersionStatement | None = None
    """Maker's statement on immersion; without one, a converted server has no warranty and a system
    with cold plates is refused."""
    scaleout_ports: int | None = Field(default=None, ge=1)
    """Scale-out NIC ports of one unit."""
    scaleout_port_gbps: Positive | None = None
    """Rate of one scale-out port."""
    scaleout_rails: int | None = Field(default=None, ge=1)
    """NICs of one node (compute tray), which is the number of rails in a rail-optimized fabric."""
    scaleout_ports_per_cage: int = Field(default=1, ge=1)
    """NIC ports per transceiver of a node; 2 for twin-port cages."""
    management_ports: Positive | None = None
    """Ports of one node (server or compute tray) on the out-of-band network. Default: that of the
    network catalog."""
    nodes_per_rack: int | None = Field(default=None, ge=1)
    """Nodes per rack in the vendor's reference design."""
    nodes_per_su: int | None = Field(default=None, ge=1)
    """Nodes per scalable unit; each unit has its own complete leaf group."""
    protocols: tuple[Protocol, ...] = ()
    """Scale-out protocols of the NICs."""
    nic: str | None = None
    """Row of the catalog kind nics."""
    own_network: OwnNetwork | None = None
    """Network between units that the maker sells with the system."""
    host_dram_gb: Positive | None = None
    """Memory of the hosts of one unit, to which activations can be offloaded. Default: unknown, no
    limit on offload."""
    slice_accelerators: int | None = Field(default=None, ge=1)
    """Accelerators of the smallest part of a pod that can be ordered alone, such as one cube.
    Default: the complete unit."""
    price_usd: Positive | None = None
    """Price of one unit."""
    release: QuarterName | None = None
    """First quarter of delivery."""
    lead_quarters: int | None = Field(default=None, ge=0)
    """Lead time from order to service, in quarters. Default: 1."""
    sold: bool = True
    """Whether the system is on sale."""
    not_sold_reason: str | None = None
    """Reason why the system is not on sale."""
    embodied_kg: NonNegative | None = None
    """Embodied carbon of one unit."""
