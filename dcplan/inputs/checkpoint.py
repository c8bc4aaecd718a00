"""Formats of a checkpoint's weights, from the catalog rows of its model and of the formats."""

from __future__ import annotations

from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Model, WeightFormat
from dcplan.llm.checkpoint import TensorBytes, TensorMath, class_formats, tensor_bytes, tensor_math


def checkpoint_formats(catalog: Catalog, model: Model | None, precision: str) -> dict[str, str]:
    """Return the format of each class of tensors of a model's checkpoint.

    Parameters
    ----------
    catalog : Catalog
        The catalog; an alias of a format resolves to its id.
    model : Model or None
        Row of the model; None for a model without a row, which follows the usual rule.
    precision : str
        Id or alias of the checkpoint's format.

    Raises
    ------
    KeyError
        If a format does not exist.

    Examples
    --------
    >>> from dcplan.catalog.loader import load
    >>> gpt = load().get("models", "gpt-oss-120b", Model)
    >>> found = checkpoint_formats(load(), gpt, "mxfp4")
    >>> found["attention"], found["experts"]
    ('bf16', 'mxfp4')
    """
    name = catalog.get("formats", precision, WeightFormat).id
    row = model.checkpoints.get(name) if model is not None else None
    stated = row.model_dump(exclude_none=True, exclude={"source", "note"}) if row else {}
    return class_formats(name, stated)


def checkpoint(
    catalog: Catalog, model: Model | None, precision: str
) -> tuple[TensorBytes, TensorMath]:
    """Return bytes of a weight and kind of rate for each class of tensors of a checkpoint.

    Parameters
    ----------
    catalog : Catalog
        The catalog.
    model : Model or None
        Row of the model, or None.
    precision : str
        Id or alias of the checkpoint's format.

    Raises
    ------
    KeyError
        If a format does not exist.

    Examples
    --------
    >>> from dcplan.catalog.loader import load
    >>> size, rate = checkpoint(load(), None, "fp8")
    >>> size.dense, size.head, rate.dense
    (1.0, 2.0, 'fp8')
    """
    formats = checkpoint_formats(catalog, model, precision)
    rows = {key: catalog.get("formats", key, WeightFormat) for key in formats.values()}
    sizes = {key: row.weight_bytes.value for key, row in rows.items()}
    return tensor_bytes(formats, sizes), tensor_math(
        formats, {key: row.math for key, row in rows.items()}
    )
