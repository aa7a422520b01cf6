"""From the files of a source to the cases of a run."""
