"""The colours of every picture."""

INK, MUTED, FAINT, WASH, PAPER = "#1f2933", "#6b7780", "#dde2e6", "#f3f5f6", "#ffffff"
ALARM = "#c1121f"
# Distinct for colour-blind readers too: Wong, "Points of view: Color blindness", Nature Methods 8, 441 (2011).
BLUE, ORANGE, GREEN, PURPLE = "#0072b2", "#e69f00", "#009e73", "#aa5a8c"


def tint(color: str, share: float) -> str:
    """A colour `#rrggbb` mixed with white; `share`, in [0, 1], is how much of the colour is left."""
    mixed = (round(255 + share * (int(color[n : n + 2], 16) - 255)) for n in (1, 3, 5))
    return "#" + "".join(f"{part:02x}" for part in mixed)
