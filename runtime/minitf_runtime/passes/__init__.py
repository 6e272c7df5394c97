"""Pure passes from a client graph to one partitioned graph; pipeline.py runs them all."""
