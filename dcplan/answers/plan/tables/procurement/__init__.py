"""What a plan buys: purchase schedule, payments, lead times and alternatives."""
