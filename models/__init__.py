"""Fill-in-the-middle language models and the decoding loop that keeps them on the grammar."""
