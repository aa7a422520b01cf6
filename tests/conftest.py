"""What holds for all tests."""

from hypothesis import settings

# No test depends on how fast the machine is.
settings.register_profile("fimlsp", deadline=None)
settings.load_profile("fimlsp")
