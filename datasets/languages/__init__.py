"""What replay needs to know of each language: its file names, its judge, and its tokens for cutting holes."""
