"""Go."""

from fimlsp.languages.go.language import Go, go

__all__ = ["Go", "go"]
