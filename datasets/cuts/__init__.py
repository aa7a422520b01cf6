"""Where holes are cut into files, and which cases a run has."""
