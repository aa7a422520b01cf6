"""Scripts written to instructions: faults by kind, with and without the constraint."""
