"""Prints the graphs that TensorFlow makes of the programs:
cd tests && PYTHON -m gradients.graphs | gzip -9n > data/gradient_graphs.txt.gz
"""

import tensorflow

from gradients.graphs import CASES, lines

for name in sorted(CASES):
    print("\n".join(["# " + name] + lines(tensorflow, CASES[name]) + [""]))
