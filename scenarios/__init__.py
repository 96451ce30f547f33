"""scenarios: text in, arrays out, and back."""

from scenarios.authoring import new as new
from scenarios.authoring import schema as schema
from scenarios.codec import Codec as Codec
from scenarios.credit import Credit as Credit
from scenarios.libraries import Library as Library
from scenarios.loading import decompile as decompile
from scenarios.loading import load as load
from scenarios.loading import parse as parse
from scenarios.text.errors import ScenarioError as ScenarioError
from scenarios.text_batch import TextBatch as TextBatch
from scenarios.text_env import Snapshot as Snapshot
from scenarios.text_env import TextEnv as TextEnv
from scenarios.writing import dump as dump
