"""Instruments of the makers: they measure, search, damage and publish; no wheel has them, no package imports them."""
