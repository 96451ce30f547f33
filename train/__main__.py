"""The command line: `jaxenv ppo|evaluate|collect|plot|bench|profile`, installed also as `jaxenv`."""

import sys

from train.cli.main import main as main

if __name__ == "__main__":
    sys.exit(main())
