"""A model on one kind of hardware with its engine: what every service has."""

from __future__ import annotations

from dataclasses import dataclass

from dcplan.answers.serve.engine import Software
from dcplan.answers.serve.request import ServeRequest
from dcplan.inputs.log import InputLog
from dcplan.inputs.serving.machines import Machine
from dcplan.inputs.serving.setups import Service
from dcplan.inputs.serving.sizing.layouts import reach
from dcplan.llm.architecture import Architecture
from dcplan.serving.search import Layout


@dataclass(frozen=True)
class Hosted:
    """One model on one kind of hardware with its engine and layouts."""

    request: ServeRequest
    log: InputLog
    model: str
    shape: Architecture
    machine: Machine
    software: Software
    service: Service
    layouts: tuple[Layout, ...]
    rate: float | None
    """Request rate to serve: given, or the mean of the trace [1/s]."""

    @property
    def spare_replicas(self) -> int:
        """Spare replicas: the given number, or one more than needed for a given load."""
        request = self.request
        if request.spares is not None:
            return request.spares
        return int(request.accelerators is None and bool(self.rate or request.concurrency))

    def idle(self, serving: int) -> int:
        """Return the given accelerators that no replica has."""
        return max((self.request.accelerators or 0) - serving, 0)

    @property
    def domain(self) -> int:
        """Accelerators over which tensor parallelism may reach."""
        return reach(self.machine, self.service)

    @property
    def title(self) -> str:
        """Model, precision and hardware."""
        return f"{self.model} in {self.software.precision.id} on {self.machine.name}"

    def fleet_text(self, serving: int, spares: int) -> str:
        """Return model, accelerators, engine and precision as the headline has them."""
        machine = self.machine
        chip = "" if machine.name == machine.accelerator.id else f" ({machine.name})"
        spare = f" and {spares:,} spare" if spares else ""
        return (
            f"{self.model} on {serving:,} x {machine.accelerator.id}{chip}{spare}, "
            f"{self.software.engine_text}, {self.software.precision.id}"
        )
