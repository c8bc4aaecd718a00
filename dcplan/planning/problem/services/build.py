"""All services of a scenario as demands of a plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dcplan.inputs.cloud_prices import offer_of, row_of
from dcplan.inputs.excluded import ExcludedOption, Kind
from dcplan.inputs.log import InputLog
from dcplan.planning.problem.services.loads import ServiceLoad, service_loads, week_periods
from dcplan.planning.problem.services.menu import Entry, Menu, ServiceMenu
from dcplan.planning.problem.services.regions import near, rtt_of
from dcplan.planning.problem.services.spec import ServiceSpec, spec_of
from dcplan.planning.problem.services.terms import service_demands
from dcplan.planning.problem.work.demands import Demands
from dcplan.planning.problem.work.permitted import permitted, row_id
from dcplan.planning.problem.work.residency import resident
from dcplan.planning.problem.work.targets import Target
from dcplan.planning.problem.work.terms import DemandTerms, NearestLatency, PoolPair
from dcplan.scenario.load import Question
from dcplan.scenario.schema import Inference
from dcplan.units import TOKENS_PER_KTOKEN

REMARK_DIFFERENCE = 0.15
"""Difference of a given throughput from the computed one from which a note is given."""


def services(
    question: Question,
    log: InputLog,
    excluded: list[ExcludedOption],
    where: Sequence[Target],
    country: dict[str, str],
) -> Demands:
    """Return the demands of all services of a scenario.

    Raises
    ------
    InputError
        With every unknown name and unreadable file of a service.
    """
    builder = _Builder(question, log, excluded, where, country)
    loads: list[tuple[ServiceLoad, ServiceSpec | None]] = []
    for given in question.scenario.workloads.inference:
        spec = spec_of(given, question, log) if given.model is not None else None
        rate = spec.traffic.rate if spec and spec.traffic else 0.0
        output = spec.output_tokens if spec else 0.0
        loads += [(x, spec) for x in service_loads(given, question, log, output, rate)]
    shaped = [x for x, _ in loads if x.week is not None]
    periods = week_periods(shaped)
    terms: list[DemandTerms] = []
    pairs: list[PoolPair] = []
    for load, spec in loads:
        unmet = load.given.usd_per_unmet_quarter
        key = f"workloads.inference.{load.given.id}.usd_per_unmet_quarter"
        usd = log.take(key, unmet) * TOKENS_PER_KTOKEN if unmet else None
        at = shaped.index(load) if load.week is not None else None
        found = service_demands(load, builder.menu(load, spec), periods, at, usd)
        terms += found.demands
        pairs += found.pairs
    shares = tuple(float(x) for x in periods.hours_frac) if periods is not None else (1.0,)
    hours = tuple(int(x) for x in periods.of_hour) if periods is not None else ()
    return Demands(
        tuple(terms), shares, hours, tuple(pairs), tuple(builder.notes), tuple(builder.nearest)
    )


class _Builder:
    """Menus of all services: given and computed throughput."""

    def __init__(
        self,
        question: Question,
        log: InputLog,
        excluded: list[ExcludedOption],
        where: Sequence[Target],
        country: dict[str, str],
    ) -> None:
        self.question, self.log, self.excluded = question, log, excluded
        self.where, self.country = where, country
        self.notes: list[str] = []
        self.nearest: list[NearestLatency] = []

    def menu(self, load: ServiceLoad, spec: ServiceSpec | None) -> Menu:
        """Return what may serve a load: given throughput before computed throughput."""
        given = load.given
        able = self._able(load)
        typed = self._typed(given)
        if spec is None:
            return Menu(tuple(self._typed_entries(given, able, typed)))
        peak = load.peak_factor * max(load.average) * TOKENS_PER_KTOKEN / spec.output_tokens
        peak *= float(load.week.max()) if load.week is not None else 1.0
        maker = ServiceMenu(spec, self.log, self.excluded)
        made = maker.menu(
            able, peak / load.room_frac, lambda t: rtt_of(load, t, self.question, self.log)
        )
        if not made.entries and not typed and maker.nearest is not None:
            self.nearest.append(maker.nearest)
        self._note_defaults(given, made)
        longest = float((spec.lengths.input_tokens + spec.lengths.output_tokens).max())
        if 0 < spec.window_tokens < longest:
            self._note(
                f"{given.id}: a request of {longest:,.0f} tokens exceeds the context window of "
                f"{given.model}, {spec.window_tokens:,} tokens"
            )
        if not typed:
            return made
        return self._with_typed(given, able, made, typed)

    def _note_defaults(self, given: Inference, made: Menu) -> None:
        """Note the weight formats that the accelerators decide, and where."""
        if given.precision is not None:
            return
        formats: dict[str, list[str]] = {}
        for entry in made.entries:
            if entry.replica is not None:
                names = formats.setdefault(entry.replica.precision, [])
                names += [] if entry.system in names else [entry.system]
        text = ", ".join(f"{form} on {' and '.join(on)}" for form, on in sorted(formats.items()))
        if text:
            self._note(f"{given.id}: weights in {text}, by default; give precision to choose")

    def _able(self, load: ServiceLoad) -> list[Target]:
        """Return the places that may serve a load: by country, site, system and distance."""
        given = load.given
        countries = given.countries
        if load.region is not None and load.region.countries is not None:
            countries = load.region.countries
        able = resident(self.where, countries, self.country, Kind.INFERENCE, load.id, self.excluded)
        able = permitted(given, Kind.INFERENCE, able, self.log, self.excluded)
        return near(load, able, self.question, self.log, self.excluded)

    def _typed(self, given: Inference) -> dict[str, float]:
        """Return the given throughput by catalog row [tokens/s]."""
        key = f"workloads.inference.{given.id}.tokens_per_s_per_accelerator"
        return {
            row_id(name, self.log): self.log.take(f"{key}.{name}", value)
            for name, value in given.tokens_per_s_per_accelerator.items()
        }

    def _typed_entries(
        self, given: Inference, able: Sequence[Target], typed: dict[str, float]
    ) -> list[Entry]:
        found: dict[tuple[str, str], Entry] = {}
        for target in able:
            rate = _given_rate(target, typed)
            if rate is None:
                reason = f"no tokens_per_s_per_accelerator for {target.system}"
                where = f"{target.place} {target.system}"
                self.excluded.append(ExcludedOption(Kind.INFERENCE, given.id, where, reason))
                continue
            own = rate / TOKENS_PER_KTOKEN * target.available_frac
            found[target.place, target.system] = Entry(target.place, target.system, own)
        return list(found.values())

    def _with_typed(
        self, given: Inference, able: Sequence[Target], made: Menu, typed: dict[str, float]
    ) -> Menu:
        """Return a menu in which given throughput replaces the computed one, and note differences.

        A given value is of one pool, so its system has no pair of pools. Hardware that the serving
        model excludes serves too where its throughput is given; its replica is one accelerator.
        """
        computed = {e.key: e for e in made.entries}
        entries = dict(computed)
        named = set()
        for target in able:
            rate = _given_rate(target, typed)
            if rate is None:
                continue
            key = (target.place, target.system)
            named.add(key)
            own = rate / TOKENS_PER_KTOKEN * target.available_frac
            if key not in computed:
                entries[key] = Entry(*key, own)
                self._note(
                    f"{given.id}: the serving model meets no limit on {target.system}; the plan uses "
                    f"your {rate:,.0f} tokens/s per accelerator without spares and without a check of "
                    "the latency"
                )
                continue
            entries[key] = self._replaced(given, target, computed[key], rate)
        pairs = tuple(x for x in made.pairs if not {x.prefill.key, x.decode.key} & named)
        return Menu(tuple(entries.values()), pairs)

    def _replaced(self, given: Inference, target: Target, entry: Entry, rate: float) -> Entry:
        """Return an entry at a given throughput, with the replica of the computed one."""
        found = entry.ktokens_per_s * TOKENS_PER_KTOKEN / target.available_frac
        if abs(rate / found - 1.0) > REMARK_DIFFERENCE:
            self._note(
                f"{given.id}: tokens_per_s_per_accelerator of {target.system} is {rate:,.0f}, and the "
                f"serving model has {found:,.0f} ({rate / found:.2f} times); the plan uses your "
                "value, and the latency is that of the serving model at its own rate"
            )
        return replace(entry, ktokens_per_s=rate / TOKENS_PER_KTOKEN * target.available_frac)

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


def _given_rate(target: Target, typed: dict[str, float]) -> float | None:
    """Return the given throughput of an accelerator by offer, system or accelerator [tokens/s]."""
    names = (row_of(offer_of(target.place)), target.system, target.accelerator)
    return next((typed[name] for name in names if name in typed), None)
