"""Names of models as people and repositories write them, and the catalog row of each."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Model

OWNERS = frozenset({"meta", "nvidia"})
"""Owner names that repositories repeat at the start of a model's name."""
TUNED = frozenset({"instruct", "chat", "it", "hf", "thinking"})
"""Words for a fine-tuned copy of the same shape."""
PRECISIONS = frozenset(
    {"fp4", "fp8", "fp16", "fp32", "bf16", "nvfp4", "mxfp4", "int4", "int8"}
    | {"awq", "gptq", "w4a16", "w8a8", "w8a16", "kv", "dyn", "dynamic", "pre", "trtllm"}
)
"""Words for a number format, and for the way the weights were quantized."""
DATE = re.compile(r"2[3-9](0[1-9]|1[0-2])|(0[1-9]|1[0-2])[0-3]\d")
"""Release of a checkpoint: year and month, or month and day."""
ACCURACY = re.compile(r"99(\.9)?")
"""Accuracy target that MLPerf Inference adds to a model's name."""


def normal_name(name: str) -> str:
    """Return a model's name in lower case, without owner and with one kind of separator.

    A dot, space, underscore, hyphen or change from letter to digit separates; ``v`` before a
    number is dropped.

    Examples
    --------
    >>> normal_name("meta-llama/Llama-3.1-70B"), normal_name("llama3_1-70b")
    ('llama-3-1-70b', 'llama-3-1-70b')
    >>> normal_name("DeepSeek V3"), normal_name("Mixtral 8x7B")
    ('deepseek-3', 'mixtral-8x-7b')
    """
    low = name.rpartition("/")[2].casefold().strip()
    parted = re.sub(r"(?<=[a-z])(?=\d)", "-", low)
    words = [w for w in re.split(r"[\s._-]+", parted) if w]
    following = [*words[1:], ""]
    kept = (w for w, n in zip(words, following, strict=False) if w != "v" or not n[:1].isdigit())
    return "-".join(kept)


def model_of(catalog: Catalog, name: str) -> Model | None:
    """Return the catalog row of a model's name in any usual spelling, or None.

    The full name is compared first. Then words for fine-tuning and number formats are left out,
    then the owner and the release date.

    Parameters
    ----------
    catalog : Catalog
        The catalog; ids and aliases of its models are compared.
    name : str
        A name such as ``nvidia/Llama-3.1-8B-Instruct-FP8`` or ``Falcon 180B``.

    Examples
    --------
    >>> from dcplan.catalog.loader import load
    >>> model_of(load(), "meta-llama/Meta-Llama-3-70B-Instruct").id
    'llama-3-70b'
    >>> model_of(load(), "a model of my own") is None
    True
    """
    rows = catalog.table("models", Model)
    known = {normal_name(n): row for row in rows.values() for n in (row.id, *row.aliases)}
    found = (known.get(normal_name(spelling)) for spelling in _spellings(name))
    return next((row for row in found if row is not None), None)


def _spellings(name: str) -> Iterator[str]:
    """Yield the name, then shorter and shorter forms of it."""
    # "llama3_1" has a version number with an underscore
    joined = re.sub(r"(?<=\d)_(?=\d)", ".", name.rpartition("/")[2].casefold())
    words = [w for w in re.split(r"[\s_-]+", joined) if w]
    yield "-".join(words)
    words = [w for w in words if w not in TUNED | PRECISIONS and not ACCURACY.fullmatch(w)]
    yield "-".join(words)
    without = words[1:] if words and words[0] in OWNERS else words
    yield "-".join(without)
    yield "-".join(w for w in without if not DATE.fullmatch(w))
