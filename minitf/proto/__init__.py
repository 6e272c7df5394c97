"""Protobuf-like messages without protobuf."""
