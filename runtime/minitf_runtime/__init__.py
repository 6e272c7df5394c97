"""The engine of minitf: places, cuts, compiles and runs dataflow graphs. Knows nothing of the
client."""
