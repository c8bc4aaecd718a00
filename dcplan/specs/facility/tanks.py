"""Metrics of immersion tanks in a hall."""

from __future__ import annotations

from dcplan.specs.metric import MetricSpec

TANKS = MetricSpec("tanks.count", "", "Immersion tanks", main=True)
POSITIONS = MetricSpec("tanks.rack_positions", "", "Rack positions of the tanks")
NODE_KW = MetricSpec(
    "tanks.node_kw", "kW", "Rated power of one server in a tank, without fans", main=True
)
NODE_AIR_KW = MetricSpec(
    "tanks.node_air_kw", "kW", "Rated power of the same server with its fans, in air", main=True
)
TANK_KW = MetricSpec("tanks.tank_kw", "kW", "Rated power of the servers of one tank")
TANK_KG = MetricSpec("tanks.tank_kg", "kg", "Weight of one tank with fluid and servers")
FLUID = MetricSpec("tanks.fluid_l", "L", "Fluid of all tanks", main=True)
FLUID_USD = MetricSpec(
    "tanks.fluid_usd", "USD", "Price of the fluid, part of the fit-out", main=True
)
CONVERSION_USD = MetricSpec(
    "tanks.conversion_usd",
    "USD",
    "Price to convert all servers, in addition to the fit-out",
    main=True,
)
RIDE_THROUGH = MetricSpec(
    "tanks.ride_through_s", "s", "Ride-through of a full tank without cooling"
)
