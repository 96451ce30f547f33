"""The contents of a picture: its texts, the boxes around them, and whether texts overlap."""

import itertools


def texts(picture):
    """The texts, in the order of drawing."""
    from matplotlib.text import Text

    return [text for text in picture.figure().findobj(Text) if text.get_text()]


def text(picture, words):
    """The only text with these words."""
    (found,) = [text for text in texts(picture) if text.get_text() == words]
    return found


def written(picture):
    """The texts, as strings."""
    return [text.get_text() for text in texts(picture)]


def beside(text, kind):
    """The artists of a kind on the canvas of a text; the whole part of the order is that of the canvas."""
    return [artist for artist in text.figure.findobj(kind) if int(artist.get_zorder()) == int(text.get_zorder())]


def frames_of(text):
    """(fill, edge) of the boxes around a text, the smallest first."""
    from matplotlib.colors import to_hex
    from matplotlib.patches import FancyBboxPatch

    x, y = text.get_position()
    boxes = [
        box
        for box in beside(text, FancyBboxPatch)
        if box.get_x() <= x <= box.get_x() + box.get_width() and box.get_y() <= y <= box.get_y() + box.get_height()
    ]
    boxes.sort(key=lambda box: box.get_width() * box.get_height())
    return [(to_hex(box.get_facecolor()), to_hex(box.get_edgecolor())) for box in boxes]


def fills_around(text):
    """The colors of those boxes."""
    return [fill for fill, _ in frames_of(text)]


def overlapping(picture):
    """Pairs of texts that overlap by more than a point."""
    figure = picture.figure()
    renderer = figure.canvas.get_renderer()
    boxes = [(text.get_text(), text.get_window_extent(renderer).padded(-figure.dpi / 72)) for text in texts(picture)]
    return [(a[0], b[0]) for a, b in itertools.combinations(boxes, 2) if a[1].overlaps(b[1])]
