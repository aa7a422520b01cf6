"""Models that run elsewhere: llama-server, vLLM and its like, Ollama, and GGUF files in this process."""
