"""A first scenario from five answers: site, power, what runs, when, and budget."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Model, Site
from dcplan.errors import InputError, Place, Problem, did_you_mean
from dcplan.units import KW_PER_MW, quarter_index, quarter_name

TRAIN, SERVE = "train", "serve"
RUN = re.compile(r"(train|serve)\s+(\S+)\s+(\S+)")
NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")
NAME = re.compile(r"[A-Za-z0-9]+([._-][A-Za-z0-9]+)*")
"""Name of a plan, which is also the name of its file."""
QUARTER = re.compile(r"\d{4}-Q[1-4]")
LEAST_QUARTERS, SERVED_QUARTERS, MOST_QUARTERS = 4, 8, 40
"""Quarters of the plan: at least; from the first quarter of a service on; at most."""
UTILITY_PER_IT, AIR_PER_IT, RACK_KW, KW_PER_POSITION = 1.3, 0.4, 160, 30
"""Sizes of the first hall, which the user replaces: utility and air heat for its IT power, limit and
average power of a rack."""
MODULE_MW, MOST_MODULES = 0.5, 100
"""IT power of a part in which the hall is built, and the largest number of parts."""
COOLING = "direct-liquid-dry-cooler, direct-liquid-tower"
LARGE_B, LARGE_BATCH, BATCH = 100.0, "16e6", "4e6"
"""Billions of parameters from which a batch has 16 million tokens, instead of 4 million."""


@dataclass(frozen=True)
class FirstAnswers:
    """Five answers, as typed; the last one may be empty."""

    location: str = "us-ashburn"
    power_mw: str = "14"
    run: str = "train llama-3.1-405b 15.6e12"
    when: str = ""
    """Quarter in which a run has to end, or from which a service runs."""
    budget_usd: str = ""


QUESTIONS = {
    "location": "Where is the site? An id of `dcplan catalog list sites`",
    "power_mw": "How much firm power does it have? [MW]",
    "run": "What runs? `train MODEL TOKENS` or `serve MODEL REQUESTS_PER_S`",
    "when": "By which quarter does the run end, or from which does the service run?",
    "budget_usd": "What is the budget? [USD; empty: none]",
}
"""Question of each answer, in their order."""


def checked_answer(name: str, text: str, catalog: Catalog, first: str) -> str:
    """Return one answer without spaces around it.

    Parameters
    ----------
    name : str
        A key of :data:`QUESTIONS`.
    first : str
        First quarter of the plan.

    Raises
    ------
    InputError
        When the answer is not one; the message has the nearest valid one.
    """
    text = text.strip()
    problem = {
        "location": _location,
        "power_mw": _power,
        "run": _run,
        "when": lambda x, _: _quarter(x, first),
        "budget_usd": _budget,
    }[name](text, catalog)
    if problem is not None:
        raise InputError([problem])
    return text


def _location(text: str, catalog: Catalog) -> Problem | None:
    if catalog.find("sites", text, Site) is not None:
        return None
    hint = did_you_mean(text, catalog.rows["sites"])
    return _wrong("location", f"no site {text!r} in the catalog", hint, "dcplan catalog list sites")


def _power(text: str, _: Catalog) -> Problem | None:
    value = _number(text)
    if value is not None and 0.1 <= value <= 10_000:
        return None
    return _wrong("power-mw", f"{text!r}: a number from 0.1 to 10,000 MW is needed")


def _run(text: str, catalog: Catalog) -> Problem | None:
    found = RUN.fullmatch(text)
    if found is None:
        cause = f"{text!r}: `train MODEL TOKENS` or `serve MODEL REQUESTS_PER_S` is needed"
        return _wrong("run", cause, help_text="train llama-3.1-70b 2e12")
    if catalog.find("models", found[2], Model) is None:
        hint = did_you_mean(found[2], catalog.rows["models"])
        return _wrong("run", f"no model {found[2]!r}", hint, "dcplan catalog list models")
    amount = _number(found[3])
    if amount is None or amount <= 0:
        return _wrong("run", f"{found[3]!r}: a number above 0 is needed")
    return None


def _quarter(text: str, first: str) -> Problem | None:
    if QUARTER.fullmatch(text) is None:
        return _wrong("when", f"{text!r}: a quarter such as {first} is needed")
    last = quarter_index(first) + MOST_QUARTERS - SERVED_QUARTERS
    if not quarter_index(first) <= quarter_index(text) <= last:
        span = f"{first} to {quarter_name(last)}"
        return _wrong("when", f"{text}: a quarter from {span} is needed")
    return None


def _budget(text: str, _: Catalog) -> Problem | None:
    value = _number(text)
    if not text or (value is not None and value > 0):
        return None
    return _wrong("budget-usd", f"{text!r}: a number of USD above 0 is needed, or nothing")


def _number(text: str) -> float | None:
    """Return a number as YAML reads it; None for any other text."""
    value = float(text) if NUMBER.fullmatch(text) else math.inf
    return value if math.isfinite(value) else None


def _wrong(flag: str, cause: str, hint: str = "", help_text: str = "") -> Problem:
    return Problem("DC050", cause, Place(f"--{flag}"), hint, help_text)


def first_scenario(name: str, given: FirstAnswers, catalog: Catalog, first: str) -> str:
    """Return the text of a scenario that plans, for answers that are checked.

    Parameters
    ----------
    name : str
        Name of the plan.
    first : str
        First quarter of the plan.

    Raises
    ------
    InputError
        When the name cannot be that of a file.
    """
    if NAME.fullmatch(name) is None:
        raise InputError([_wrong("name", f"{name!r}: letters and digits, with . _ - between them")])
    verb, model, amount = RUN.fullmatch(given.run).groups()  # type: ignore[union-attr] # checked
    when = given.when or quarter_name(quarter_index(first) + LEAST_QUARTERS - 1)
    ahead = quarter_index(when) - quarter_index(first)
    quarters = max(ahead + (1 if verb == TRAIN else SERVED_QUARTERS), LEAST_QUARTERS)
    it_mw = round(float(given.power_mw) / UTILITY_PER_IT, 2)
    modules = min(max(round(it_mw / MODULE_MW), 1), MOST_MODULES)
    racks = modules * math.ceil(it_mw * KW_PER_MW / KW_PER_POSITION / modules)
    air_mw = round(AIR_PER_IT * it_mw, 2)
    budget = f"finance: {{budget_usd: {given.budget_usd}}}\n" if given.budget_usd else ""
    work = (
        _training(model, amount, when, first, catalog)
        if verb == TRAIN
        else _service(model, amount, when)
    )
    return f"""\
# Written by `dcplan init` from five answers. Replace the sizes and defaults by your own:
# `dcplan check FILE -v` lists every value with its source, `dcplan schema scenario` every field.
dcplan: 1
name: {name}
horizon: {{start: {first}, quarters: {quarters}}}
{budget}sites:
  - id: site
    location: {given.location}
    utility_mw: {given.power_mw}
    halls:
      - id: hall   # a new hall, sized for the power: give its own racks, IT power and air heat
        racks: {racks}
        rack_kw_max: {RACK_KW}
        it_mw: {it_mw:g}
        air_mw: {air_mw:g}
        modules: {modules}   # equal parts, each built when the plan needs it
        cooling: [{COOLING}]
systems: [dgx-h200, dgx-b200, gb200-nvl72, gb300-nvl72]
fabrics: [ib-ndr-400, ib-xdr-800, eth-800]
workloads:
{work}objective: min_cost
"""


def _training(model: str, tokens: str, when: str, first: str, catalog: Catalog) -> str:
    row = catalog.get("models", model, Model)
    batch = LARGE_BATCH if row.params_b.value >= LARGE_B else BATCH
    return f"""\
  training:
    - id: run
      model: {model}
      tokens: {tokens}
      seq_len: 8192
      global_batch_tokens: {batch}
      precision: [bf16, fp8]
      start: {first}
      deadline: {when}   # ends by the last day of this quarter, with 80 % confidence
"""


def _service(model: str, requests: str, when: str) -> str:
    return f"""\
  inference:
    - id: service
      model: {model}
      isl: 2048
      osl: 512
      slo: {{ttft_ms: 2000, tpot_ms: 50}}
      requests_per_s: {{start: {requests}, growth_frac_per_quarter: 0, from: {when}}}
"""
