"""Models on servers: llama-server, vLLM and other OpenAI-compatible servers, Ollama, and GGUF files."""
