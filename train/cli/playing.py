"""`jaxenv play`: an environment played by hand, on a page in the browser."""

import threading
import webbrowser
from pathlib import Path

from tyro.conf import Positional

from jaxenv.host.companions import optional
from scenarios import load
from scenarios.playing.game import replay


def play(
    env: Positional[str],
    scenarios: str | None = None,
    host: str = "127.0.0.1",
    port: int = 8080,
    open: bool = True,
) -> None:
    """Play an environment by hand, in the browser.

    The page has the legal actions with their numbers, undo, and hints of what is best and what a trained policy would
    do. It saves episodes to files, which this command plays again and compares.

    Args:
        env: The id of an environment, or an episode that the page saved. Of several agents you are the first.
        scenarios: A file or folder of scenarios; default: the environment's library.
        host: The address to listen on; the default is this machine alone.
        port: The port.
        open: Open the page in a browser.
    """
    library = None if scenarios is None else load(scenarios)
    if Path(env).suffix == ".json":
        rewards = replay(Path(env), library).rewards
        print(f"{len(rewards)} steps, return {sum(rewards):.2f}, as recorded")
        return
    page = optional("scenarios.playing.app", "the page", "play")
    hosts = (host, "localhost") if host in ("127.0.0.1", "localhost") else ("*",)
    app, address = page.create_app(env, library, hosts), f"http://{host}:{port}"
    print(f"{env}: {address}, Ctrl-C ends it", flush=True)
    if open:
        threading.Timer(0.5, webbrowser.open, [address]).start()
    page.serve(app, host, port)
