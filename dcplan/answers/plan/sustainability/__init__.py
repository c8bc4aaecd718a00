"""Embodied carbon of a plan, and its indicators in the terms of EED and ESRS."""
