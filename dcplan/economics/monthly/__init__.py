"""Monthly cash flows of a plan or of a rent, with taxes and debt."""
