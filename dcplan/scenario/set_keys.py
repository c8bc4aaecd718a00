"""Keys under which ``--set`` changes the inputs of an answer."""

from __future__ import annotations

from dcplan.scenario.load import Question

FIELDS = {
    "finance.discount-rate": "finance.discount_rate",
    "finance.hardware-life-years": "finance.hardware_life_years",
}
"""Fields of the scenario whose default is a catalog parameter."""


def set_key(key: str, question: Question) -> str:
    """Return the ``--set`` key of an input: a field of the scenario or of a catalog row, or a
    catalog parameter.

    An overlay changes cloud prices and catalog rows.
    """
    kind, _, rest = key.partition(".")
    if key in FIELDS:
        return FIELDS[key]
    if kind == "cloud":
        offer, _, field = rest.rpartition(".")
        if not offer:
            return key
        return f"cloud.prices.{_quoted(offer)}.{field}"
    if kind in (
        "sites",
        "workloads",
        "supply",
        "fleet",
        "systems",
        "finance",
    ) and rest not in _known(kind, question):
        return key
    rows = sorted(_known(kind, question), key=len, reverse=True)
    row = next((r for r in rows if rest == r or rest.startswith(r + ".")), None)
    if row is None:
        return key
    return f"prices.{_quoted(row)}.{rest[len(row) + 1 :] or 'value'}"


def _known(kind: str, question: Question) -> list[str]:
    return list(question.catalog.rows.get(kind, ()))


def _quoted(key: str) -> str:
    return f'"{key}"' if "." in key else key
