"""Devices: their names, and one file per kind of device."""
