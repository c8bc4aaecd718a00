"""Inference services: the load, and throughput that is given or computed from a model and limits."""

from __future__ import annotations

from typing import Annotated, Literal, NoReturn

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from dcplan.catalog.schema.ranges import AtLeastOne, Fraction, NonNegative, Positive, Series, Share
from dcplan.provenance import Quantity
from dcplan.scenario.schema.base import CountOrZero, Key, Part
from dcplan.scenario.schema.demand import Demand
from dcplan.scenario.schema.rates import RequestRates, TokenRates

LOADS = ("tokens_per_s", "requests_per_s", "users")
COMPUTED = (
    *("isl", "osl", "lengths", "trace", "prefix_hit_frac", "slo", "engine", "precision"),
    *("kv_precision", "disaggregated", "spares", "regions"),
)
"""Fields that only a service with a model has."""
QUANTILE = 0.9
"""Default share of the requests that meet each latency limit."""
Disaggregated = Literal["never", "same-system", "any-systems"]
Offset = Annotated[int, Field(ge=-12, le=14, strict=True)]


class Slo(Part):
    """Latency limits of a service."""

    ttft_ms: Positive
    """Limit of the time to first token, with the network time to the users."""
    tpot_ms: Positive
    """Limit of the time per output token."""
    quantile: Annotated[float, Field(ge=0.5, le=0.99)] = QUANTILE
    """Share of the requests that meet each limit."""


class UserRegion(Part):
    """Users in one place, with the distance and the countries from which they may be served."""

    id: Key
    """Name of the region of users."""
    share_frac: Fraction
    """Share of the load of the service."""
    location: str
    """Row of the catalog kind sites near the users."""
    max_rtt_ms: Positive | None = None
    """Maximum round-trip time of the network to the users. Default: the latency limit only."""
    countries: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    """Data residency of these users (country codes of two letters). Default: that of the service."""
    utc_offset_h: Offset = 0
    """Local time of the users minus UTC, for the shape of the load."""


class Inference(Demand):
    """An inference service, with the throughput of your own measurements or of the serving model."""

    tokens_per_s: TokenRates | None = None
    """Average output tokens per second of the quarter."""
    requests_per_s: RequestRates | None = None
    """Average requests per second of the quarter, instead of tokens_per_s."""
    users: Series | None = None
    """Users, instead of tokens_per_s; needs requests_per_user_day."""
    requests_per_user_day: Positive | None = None
    """Requests of one user per day."""
    tokens_per_s_per_accelerator: dict[str, Positive] = Field(default_factory=dict)
    """Your own throughput by system, accelerator or cloud offer. Without a model, hardware without
    an entry does not serve. With a model, an entry replaces the computed throughput."""
    model: str | None = None
    """Catalog id, or a path (relative to the scenario file) to a config.json. Default: the
    throughput is given."""
    isl: Annotated[float, Field(ge=1, le=1e8)] | None = None
    """Input tokens of a request."""
    osl: Annotated[float, Field(ge=2, le=1e8)] | None = None
    """Output tokens of a request."""
    lengths: str | None = None
    """CSV with input_tokens,output_tokens of requests, relative to the scenario file."""
    trace: str | None = None
    """Requests with arrival times, relative to the scenario file: lengths, cached prefixes and
    burstiness; also the load if no other is given."""
    prefix_hit_frac: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Share of the prompt tokens that the prefix cache holds."""
    slo: Slo | None = None
    """Latency limits; required with a model."""
    engine: str | None = None
    """Engine, with a release if not the newest, such as vllm@0.19. Default: vllm where it runs."""
    precision: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    """Weight formats of equal quality for you, such as [fp8, nvfp4]; the plan may choose any.
    Default: the narrowest that the accelerator multiplies."""
    kv_precision: Literal["fp8", "bf16"] | None = None
    """Format of the KV cache. Default: that of the engine."""
    disaggregated: Disaggregated = "same-system"
    """Whether prefill and decode may have pools of their own: never, on the same system, or also on
    different systems of one hall."""
    spares: CountOrZero = 1
    """Spare replicas in each hall and system that serves."""
    shape: str | tuple[NonNegative, ...] | None = None
    """Load by hour: a row of the catalog kind load_shapes, 24 numbers for every day, or 168 from
    Monday 00:00; only the ratios count. Default: constant."""
    utc_offset_h: Offset = 0
    """Local time of the shape minus UTC."""
    peak_factor: AtLeastOne = Quantity(value=1.0)
    """Peak load divided by average load of an hour: the peak sets the accelerators, the average sets
    the energy."""
    utilization_frac: Share = Quantity(value=1.0)
    """Maximum share of the throughput in use at the peak."""
    regions: tuple[UserRegion, ...] = ()
    """Users by region; their shares add up to 1. Default: users near each site."""
    kept_frac_without_site: Fraction = Quantity(value=0.0)
    """Share of the load that the other sites and the cloud must serve if any one site fails."""

    @property
    def load_field(self) -> str:
        """The one of the fields of the load that is given; the trace if none is."""
        return next((name for name in LOADS if getattr(self, name) is not None), "trace")

    @model_validator(mode="after")
    def _one_load(self) -> Inference:
        given = [name for name in LOADS if getattr(self, name) is not None]
        if len(given) > 1 or not (given or self.trace):
            _refuse(f"give one of {', '.join(LOADS)}, got {', '.join(given) or 'none'}")
        if (self.users is None) != (self.requests_per_user_day is None):
            _refuse("users and requests_per_user_day need each other")
        if self.model is None:
            self._typed()
        else:
            self._computed()
        if self.utilization_frac.value <= 0.0:
            _refuse("utilization_frac must be above 0")
        if self.regions and abs(sum(r.share_frac.value for r in self.regions) - 1.0) > 1e-6:
            _refuse("the share_frac of all regions must add up to 1")
        return self

    def _typed(self) -> None:
        if not self.tokens_per_s_per_accelerator:
            _refuse(
                "give model with slo and isl, osl (throughput is computed), or "
                "tokens_per_s_per_accelerator (your own throughput)"
            )
        extra = [name for name in COMPUTED if name in self.model_fields_set]
        if extra:
            _refuse(f"{', '.join(extra)}: only a service with a model has these fields")
        if self.tokens_per_s is None:
            _refuse("a service without a model needs tokens_per_s")

    def _computed(self) -> None:
        if self.slo is None:
            _refuse("a service with a model needs slo: {ttft_ms, tpot_ms}")
        files = [name for name in ("lengths", "trace") if getattr(self, name) is not None]
        typed = [name for name in ("isl", "osl") if getattr(self, name) is not None]
        if len(files) + bool(typed) != 1 or len(typed) == 1:
            _refuse("give the lengths once: isl and osl, or lengths, or trace")


def _refuse(text: str) -> NoReturn:
    code, form = "inference", "{text}"
    raise PydanticCustomError(code, form, {"text": text})
