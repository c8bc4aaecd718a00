"""Network time between the users of a service and a site."""

from __future__ import annotations

from dcplan.units import MICRO


def user_rtt_s(
    distance_km: float, route_factor: float, us_per_km: float, last_mile_s: float
) -> float:
    r"""Return the round trip between users and a site.

    .. math:: t = 2 \, d \, f \, \tau + t_\mathrm{last}

    Parameters
    ----------
    distance_km : float
        Great-circle distance, at least 0. [km]
    route_factor : float
        Length of the network route over the great circle, with the time of routers, at least 1. [-]
    us_per_km : float
        Time of light in fiber, one way. [us/km]
    last_mile_s : float
        Round trip over the access network of a user, at least 0. [s]

    Raises
    ------
    ValueError
        If a time or the distance is negative, or the route is shorter than the great circle.

    Notes
    -----
    Fiber, route and access in ``catalogs/fabrics/network.yaml``: fibre-us-per-km, user-route-factor,
    last-mile-rtt-ms. With the factor's low and high, 1.3 and 3.0, the range has four of five routes.

    Examples
    --------
    1,000 km at a factor of 1.9: 2 x 1,900 km x 4.897 us/km = 18.6 ms, and 12 ms of access.

    >>> round(user_rtt_s(1000.0, 1.9, 4.897, 0.012), 4)
    0.0306
    """
    if min(distance_km, us_per_km, last_mile_s) < 0.0 or route_factor < 1.0:
        msg = (
            "a round trip needs distance and times of at least 0, and a route factor of at least 1"
        )
        raise ValueError(msg)
    return 2 * distance_km * route_factor * us_per_km * MICRO + last_mile_s
