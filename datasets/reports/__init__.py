"""Tables, charts and pages, made from the files of a run."""
