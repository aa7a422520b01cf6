"""Constraints for inference engines: what a request asks for, and the masks that follow from it."""
