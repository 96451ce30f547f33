"""The command line: `jaxenv ppo|evaluate|collect|plot|bench|profile`, installed also as `jaxenv`."""

from jaxenv.host import process
from train.cli.main import main as main

if __name__ == "__main__":
    process.run(main)
