"""The language server: documents, requests, the worker process, the command line."""
