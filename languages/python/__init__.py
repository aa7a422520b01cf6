"""Python 3.8 to 3.13."""
