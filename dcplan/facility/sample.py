"""Even samples of uncertain parameters, always the same."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
DRAWS = 256


def even_draws(dimensions: int, count: int = DRAWS) -> Array:
    r"""Return points that fill the unit cube evenly: :math:`u_{ij} = \{1/2 + (i+1)\,\varphi_d^{-(j+1)}\}`.

    The braces take the fractional part; the base :math:`\varphi_d` is the root of
    :math:`x^{d+1} = x + 1`.

    Parameters
    ----------
    dimensions : int
        Number d of dimensions, at least 1.
    count : int
        Number of points.

    References
    ----------
    .. [1] M. Roberts, "The unreasonable effectiveness of quasirandom sequences", 2018 (R sequence of Kronecker type).

    Examples
    --------
    >>> u = even_draws(3, 1000)
    >>> u.shape, bool(np.all(abs(u.mean(axis=0) - 0.5) < 0.01))
    ((1000, 3), True)
    """
    base = 2.0
    for _ in range(60):
        base = (1.0 + base) ** (1.0 / (dimensions + 1))
    powers = base ** -np.arange(1.0, dimensions + 1.0)
    return (0.5 + np.arange(1, count + 1)[:, None] * powers) % 1.0


def draw(bounds: Mapping[str, tuple[float, float]], count: int = DRAWS) -> dict[str, Array]:
    """Return uniform samples of named parameters between their bounds.

    Each parameter is a column, to combine with weather bins.

    Parameters
    ----------
    bounds : mapping of str to (float, float)
        Least and greatest value by name; equal values make a constant.
    count : int
        Number of samples.

    Examples
    --------
    >>> p = draw({"a": (1.0, 3.0), "b": (5.0, 5.0)}, 4)
    >>> p["a"].shape, p["b"].ravel().tolist()
    ((4, 1), [5.0, 5.0, 5.0, 5.0])
    """
    u = even_draws(max(len(bounds), 1), count)
    return {
        name: (low + (high - low) * u[:, j])[:, None]
        for j, (name, (low, high)) in enumerate(sorted(bounds.items()))
    }
