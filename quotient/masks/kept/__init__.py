"""Tables of masks on disk, made once for all processes."""
