"""Files to be cut: from shards, folders or the interpreter."""
