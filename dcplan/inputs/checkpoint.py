"""Formats of a checkpoint's weights, from the catalog rows of its model and of the formats."""

from __future__ import annotations

from dcplan.catalog.loader import Catalog
from dcplan.catalog.schema import Model, WeightFormat
from dcplan.llm.checkpoint import TensorBytes, TensorMath, class_formats, tensor_bytes, tensor_math


def checkpoint_formats(catalog: Catalog, model: Model | None, precision: str) -> dict[str, str]:
    """Return the format of each class of tensors of a model's checkpoint.

    A variant of a format, such as ``fp8-block``, follows the model's row of the format itself,
    ``fp8``, where the row does not name the variant.

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
    rows = model.checkpoints if model is not None else {}
    row = rows.get(name) or rows.get(name.split("-")[0])
    stated = row.model_dump(exclude_none=True, exclude={"source", "note"}) if row else {}
    return class_formats(name, stated)


def format_rows(catalog: Catalog, model: Model | None, precision: str) -> dict[str, WeightFormat]:
    """Return the catalog row of the format of each class of tensors of a checkpoint.

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
    >>> format_rows(load(), None, "fp8")["head"].weight_bytes.value
    2.0
    """
    names = checkpoint_formats(catalog, model, precision)
    return {key: catalog.get("formats", name, WeightFormat) for key, name in names.items()}


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
    rows = format_rows(catalog, model, precision)
    names = {key: row.id for key, row in rows.items()}
    sizes = {row.id: row.weight_bytes.value for row in rows.values()}
    return tensor_bytes(names, sizes), tensor_math(
        names, {row.id: row.math for row in rows.values()}
    )
