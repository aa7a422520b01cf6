"""The Language Server Protocol: transport, admission, messages, features and configuration."""
