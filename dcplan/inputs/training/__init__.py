"""Accelerators, software stacks and models as arguments of the training room."""
