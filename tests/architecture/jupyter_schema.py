"""Writes the settings in Jupyter: `python tests/architecture/jupyter_schema.py FILE`.

FILE is editors/jupyter/schema/plugin.json.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from fimlsp.lsp_server.options import OPTIONS, Option

LEFT_OUT = frozenset(["completion", "logLevel"])
"""For clients without inline completion; for logs, of which the Jupyter server has its own level."""

OF_THE_PAGE = {
    "kernelVariables": {
        "title": "Kernel variables",
        "description": "Also uses the variables of the notebook's running kernel, with the keys of dicts and "
        "the columns of tables. The kernel is asked after each execution, with Jupyter's messages for "
        "completion and inspection. IPython then evaluates names, and objects may run code of their own.",
        "type": "boolean",
        "default": False,
    }
}
"""Settings that are not the server's options."""

SHORTCUTS = [
    {"command": f"fimlsp:accept-{part}", "keys": [keys], "selector": ".jp-mod-inline-completer-active"}
    for part, keys in (("word", "Accel ArrowRight"), ("line", "Accel Alt ArrowRight"))
]


def schema() -> dict[str, object]:
    """The schema of the settings: a property for each option."""
    return {
        "title": "fimlsp",
        "description": "Inline completions that connect to the text after the cursor",
        "jupyter.lab.setting-icon": "completer:inline",
        "jupyter.lab.setting-icon-label": "fimlsp",
        "jupyter.lab.shortcuts": SHORTCUTS,
        "type": "object",
        "additionalProperties": False,
        "properties": OF_THE_PAGE
        | {option.name: property_of(option) for option in OPTIONS if option.name not in LEFT_OUT},
    }


def property_of(option: Option) -> dict[str, object]:
    """The property of *option*."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", option.name)
    meaning = option.meaning.replace("`", "")
    return {"title": words[0].upper() + words[1:].lower(), "description": meaning, **option.schema()}


def text() -> str:
    """The schema as the text of its file."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]):
        path.write_text(text(), encoding="utf-8")
