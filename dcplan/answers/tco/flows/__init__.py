"""Present value, returns and payback of a list of cash flows."""
