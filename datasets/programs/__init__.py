"""Problems with tests: programs written with and without the constraint, and run contained."""
