"""Readings of the one partitioned graph: rows.py computes them, text.py and dot.py show them."""
