"""Pictures and text of states and episodes, on the host; drawing needs matplotlib, the extra `viz`."""

from jaxenv.rendering.episode import Episode as Episode
from jaxenv.rendering.episode import record as record
from jaxenv.rendering.picture import Picture as Picture
from jaxenv.rendering.view import Scene as Scene
from jaxenv.rendering.view import Step as Step
from jaxenv.rendering.view import View as View
from jaxenv.rendering.views import VIEWS as VIEWS
from jaxenv.rendering.views import render as render
