"""TypeScript and JavaScript."""

from fimlsp.languages.typescript.language import TypeScript, javascript, typescript

__all__ = ["TypeScript", "javascript", "typescript"]
