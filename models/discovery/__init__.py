"""Models on this machine: GGUF files of other programs, servers that answer, and a description of each."""
