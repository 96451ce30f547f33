"""A command that meets a fault at one moment: `python faulty.py '[[target, name, number, what]]' ppo ...`.

At the numbered call of a function (with an argument that ends in the name, if one is given), the process is killed
`before` or `after` it, `during` it (20 ms from its start), or once it has done `half` of what its last argument asks,
or it gets an `interrupt`, as from Ctrl-C.
"""

import functools
import importlib
import json
import os
import signal
import sys
import threading
import time

from probes import LIBRARY, PROBES

from jaxenv import registry
from jaxenv.host import process
from strategies.tables import Table
from train.cli.main import main
from train.protocol import shipped


class Registered(Table):
    @property
    def default_params(self):
        return PROBES["observation"]


def kill():
    os.kill(os.getpid(), signal.SIGKILL)


def later():
    time.sleep(0.02)
    kill()


def plant(target, name, number, what):
    """Replaces a function by one that has a fault."""
    module, _, path = target.partition(":")
    *owners, attribute = path.split(".")
    owner = functools.reduce(getattr, owners, importlib.import_module(module))
    function, calls = getattr(owner, attribute), [0]

    def faulty(*args, **named):
        calls[0] += not name or any(str(argument).endswith(name) for argument in args)
        if calls[0] != number:
            return function(*args, **named)
        calls[0] += 1  # only now
        if what == "before":
            kill()
        if what == "during":
            threading.Thread(target=later).start()
        if what == "interrupt":
            signal.raise_signal(signal.SIGINT)
        if what == "half":
            args = (*args[:-1], args[-1][: len(args[-1]) // 2])
        found = function(*args, **named)
        if what in ("after", "half"):
            kill()
        return found

    setattr(owner, attribute, faulty)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which the parent may have had ignored
    registry._FACTORIES["Table-v0"] = Registered
    shipped.library_for = lambda env, path=None: LIBRARY
    for fault in json.loads(sys.argv[1]):
        plant(*fault)
    process.run(functools.partial(main, sys.argv[2:]))
