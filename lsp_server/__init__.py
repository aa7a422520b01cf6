"""The language server and the command line.

The server process never computes: it keeps documents in step with editors (`protocol`, `session`,
`documents`) and asks worker processes (`worker_client`, `worker`), which hold the engine and a model and may
die at any time.
"""
