"""Engines that run chains of tasks: serial, processes, Dask."""
