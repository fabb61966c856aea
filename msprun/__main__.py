"""`python -m msprun`."""

import sys

from msprun.cli import main

if __name__ == "__main__":
    sys.exit(main())
