"""Measures how cost grows with the size of a program, and what minitf weighs."""
