"""The language server protocol: transport, messages, configuration, and answers as the protocol has them."""
