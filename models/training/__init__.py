"""Training of a small fill-in-the-middle model from Python source on this machine (`fimlsp train`)."""
