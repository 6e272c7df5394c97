"""`python -m minitf`: the same as the command `minitf`."""

import sys

from minitf.cli import main

sys.exit(main())
