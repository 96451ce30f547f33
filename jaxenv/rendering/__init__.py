"""Pictures and text of states and episodes, on the host; drawing needs matplotlib, the extra `viz`.

`render` shows one state and `record` plays an episode, which is a sequence of pictures. `VIEWS` has the view of each
environment; a `View` of your own makes `Scene` objects of states, and shows another environment.
"""

from jaxenv.rendering.episode import Episode, record
from jaxenv.rendering.picture import Picture
from jaxenv.rendering.view import Scene, Step, View
from jaxenv.rendering.views import VIEWS, render

__all__ = ["VIEWS", "Episode", "Picture", "Scene", "Step", "View", "record", "render"]
