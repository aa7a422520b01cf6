"""A cheap text that completes a middle."""
