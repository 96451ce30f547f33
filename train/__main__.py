"""`python -m train`, which is the command `jaxenv`."""

from jaxenv.host import process
from train.cli.main import main as main

if __name__ == "__main__":
    process.run(main)
