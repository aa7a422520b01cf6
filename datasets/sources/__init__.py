"""Files to cut holes into: from shards of data sets, from folders, or from the running interpreter."""
