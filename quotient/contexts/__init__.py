"""What the text left and right of every line leaves open."""
