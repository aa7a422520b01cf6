"""UTF-8, byte by byte (RFC 3629, section 4)."""

from __future__ import annotations

START = (0, 0x80, 0xBF)
"""Between two characters. How many bytes are missing, and the bounds of the next."""

_FIRST = {0xE0: (2, 0xA0, 0xBF), 0xED: (2, 0x80, 0x9F), 0xF0: (3, 0x90, 0xBF), 0xF4: (3, 0x80, 0x8F)}


def after_byte(state: tuple[int, int, int], byte: int) -> tuple[int, int, int] | None:
    """The state after *byte*; None if no character is written so."""
    missing, low, high = state
    if missing:
        return (missing - 1, 0x80, 0xBF) if low <= byte <= high else None
    if byte < 0x80:
        return START
    if byte in _FIRST:
        return _FIRST[byte]
    for bounds, count in (((0xC2, 0xDF), 1), ((0xE1, 0xEF), 2), ((0xF1, 0xF3), 3)):
        if bounds[0] <= byte <= bounds[1]:
            return (count, 0x80, 0xBF)
    return None


def missing_bytes(state: tuple[int, int, int]) -> bytes:
    """Bytes that complete the character."""
    missing, low, _ = state
    return bytes((low,)) + b"\x80" * (missing - 1) if missing else b""
