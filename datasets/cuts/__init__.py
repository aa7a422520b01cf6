"""Where holes are cut, and which cases a run has."""
