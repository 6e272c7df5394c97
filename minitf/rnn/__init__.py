"""Recurrent networks: cells, and the functions that run them along a sequence."""
