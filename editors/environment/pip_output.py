"""Turns the output of pip into steps of a progress bar, or into one sentence with the remedy."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

_STEP = re.compile(
    r"\s*(Collecting|Downloading|Using cached|Processing|Installing build dependencies|"
    r"Installing collected packages|Successfully installed)\b"
    r":?\s*(\S+)?(?:.*(\(\d[\d.]* [kMG]?B\)))?"
)
_WHEEL = re.compile(r"([\w.]+)-([\w.+!]+)-\S*\.whl(?:\.metadata)?")
_UNREACHABLE = re.compile(
    r"NewConnectionError|NameResolutionError|ConnectTimeout|ProxyError|SSLError|ReadTimeout|"
    r"Connection refused|Max retries exceeded|Network is unreachable|Temporary failure in name resolution"
)
_NOT_FOUND = re.compile(
    r"(?:ERROR: Could not find a version that satisfies the requirement|"
    r"ERROR: No matching distribution found for|The user requested \(constraint\)) (\S+)"
)


def step_of(line: str) -> str | None:
    """A line of pip's as a step of a progress bar; None for one that says nothing to the user."""
    words = _STEP.match(line)
    if words is None:
        return None
    step, name, size = words.groups(default="")
    if step == "Installing collected packages":
        return "unpacking"
    if step == "Successfully installed":
        return "done"
    file = name.rpartition("/")[2]
    wheel = _WHEEL.fullmatch(file)
    return " ".join(filter(None, [step.lower(), f"{wheel[1]} {wheel[2]}" if wheel else file, size]))


def explain(lines: Sequence[str], status: int, wheelhouse: Path | None) -> str:
    """Why a call of pip failed that printed *lines*."""
    text = "\n".join(lines)
    missing = _NOT_FOUND.search(text)
    if "No space left on device" in text or "Disk quota exceeded" in text:
        return "The disk is full; make room and try again: what was downloaded is kept."
    if wheelhouse is not None and missing:
        return (
            f"The folder {wheelhouse} has no wheel of {missing[1]} for this Python; fill it with "
            f"`pip download` on a machine with the same Python and system."
        )
    if _UNREACHABLE.search(text):
        return (
            "The package index cannot be reached; check the network and what pip is set up for "
            "(`pip config list`), or name a folder of wheels."
        )
    if missing:
        return f"The package index that pip is set up for has no {missing[1]} for this Python and system."
    errors = [line for line in lines if line.startswith("ERROR: ")]
    last = (
        errors[0].removeprefix("ERROR: ")
        if errors
        else next((line for line in reversed(lines) if line.strip()), "")
    )
    return f"pip failed: {last.strip() or f'exit status {status}'}"
