"""From the files of a run to tables, plots and pages."""
