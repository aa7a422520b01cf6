"""fimlsp: inline completions that connect to what follows the cursor."""

from __future__ import annotations

__version__ = "0.1.0"
