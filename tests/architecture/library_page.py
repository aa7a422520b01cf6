"""The programs of docs/library.md as texts; run as a script, it writes them to be type-checked."""

import re
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "library.md"


PARTS = re.compile(r"^##+ ([^\n]+)$|^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def programs():
    """Each program, by its heading; a second one under a heading has a number."""
    found, heading = {}, ""
    for title, program in PARTS.findall(PAGE.read_text(encoding="utf-8")):
        heading = title or heading
        if program:
            same = sum(heading in name for name in found)
            found[f"{heading}, {same + 1}" if same else heading] = program
    return found


if __name__ == "__main__":
    for number, program in enumerate(programs().values(), 1):
        (Path(sys.argv[1]) / f"library_{number}.py").write_text(program, encoding="utf-8")
