"""Plans: a part of a partitioned graph as a generated Python function, and what it runs on."""
