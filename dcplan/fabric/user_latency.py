def user_rtt_s(
    distance_km: float, route_factor: float, us_per_km: float, last_mile_s: float
) -> float:
    return 2.0 * distance_km * route_factor * us_per_km * 1e-6 + last_mile_s
