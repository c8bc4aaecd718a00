"""Sites and halls of a plan, with the catalog's climate, tariffs and cooling coefficients."""
