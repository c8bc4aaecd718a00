"""Keys of the model's columns and rows: a variable or constraint and its ids."""

from __future__ import annotations

import json
from typing import Any, NamedTuple


class Key(NamedTuple):
    """A column or row of the model; its ids are data and are never parsed from text."""

    name: str
    """Name of the variable or constraint."""
    ids: tuple[Any, ...] = ()
    """Ids and numbers of the index in the model."""

    def __str__(self) -> str:
        """Return the name in readable form.

        Examples
        --------
        >>> str(Key("utility_mw", ("ashburn", 2))), str(Key("budget_total"))
        ('utility_mw[ashburn,2]', 'budget_total')
        """
        return f"{self.name}[{','.join(map(str, self.ids))}]" if self.ids else self.name


def to_text(key: Key) -> str:
    """Write a key as text that :func:`from_text` can read, for any ids.

    Examples
    --------
    >>> to_text(Key("blocks", ("1", 1)))
    '["blocks", "1", 1]'
    """
    return json.dumps([key.name, *key.ids], ensure_ascii=False)


def from_text(text: str) -> Key:
    """Read a key that :func:`to_text` wrote.

    Raises
    ------
    ValueError
        If the text is no key.

    Examples
    --------
    >>> from_text(to_text(Key("blocks", ("1", 1)))) == Key("blocks", ("1", 1))
    True
    """
    parts = json.loads(text)
    if not isinstance(parts, list) or not parts or not isinstance(parts[0], str):
        msg = f"{text!r} is no key of a column"
        raise ValueError(msg)
    return Key(parts[0], tuple(parts[1:]))
