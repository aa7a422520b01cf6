"""Reads a file that is broken elsewhere as the nearest valid one."""
