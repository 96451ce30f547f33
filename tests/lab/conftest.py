"""The environment that takes no time to compile, for the instruments too."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "train"))

from probes import Registered

from jaxenv import registry


@pytest.fixture
def probe_is_registered(monkeypatch):
    """As `Table-v0`: rewards and ends depend on where it is."""
    monkeypatch.setitem(registry._FACTORIES, "Table-v0", Registered)
