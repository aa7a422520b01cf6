"""The programs of docs/library.md as texts; run as a script, it writes them to be type-checked."""

import re
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "library.md"


def programs():
    """Each heading with its program."""
    found = re.findall(r"^## (.+?)\n.*?```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    return dict(found)


if __name__ == "__main__":
    for number, program in enumerate(programs().values(), 1):
        (Path(sys.argv[1]) / f"library_{number}.py").write_text(program, encoding="utf-8")
