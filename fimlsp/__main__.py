"""`python -m fimlsp`."""

from __future__ import annotations


def main() -> None:
    """Run the command line."""


if __name__ == "__main__":
    main()
