"""The language server and the command line.

The server process never computes. It keeps documents in sync with editors (`protocol`, `session`,
`documents`) and sends requests to worker processes (`worker_pool`, `worker_process`). These hold the engine
and a model (`worker`), and may die at any time.
"""
