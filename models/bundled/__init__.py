"""The default model: weights, tokenizer, confidence estimate and model card."""

from pathlib import Path

BUNDLED = Path(__file__).parent
"""Its folder."""

ESTIMATE = BUNDLED / "acceptance.json"
"""The estimate of its suggestions."""
