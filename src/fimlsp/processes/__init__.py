"""Processes with bounds that the kernel keeps: time, memory, files, system calls."""
