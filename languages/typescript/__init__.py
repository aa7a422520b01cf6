"""TypeScript and JavaScript."""

from fimlsp.languages.typescript.language import TypeScript, javascript, jsx, tsx, typescript

__all__ = ["TypeScript", "javascript", "jsx", "tsx", "typescript"]
