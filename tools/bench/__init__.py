"""Measures minitf against the same work by hand: `make bench`."""
