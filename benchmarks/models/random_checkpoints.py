"""Makes small checkpoints with random weights, of the architectures in papers on constrained decoding.

`python -m benchmarks.models.random_checkpoints TOKENIZER.json --out FOLDER` writes a folder for each. They
show that texts are valid whatever a network predicts, and that a command runs with such a checkpoint.
"""

from __future__ import annotations

import json
from pathlib import Path

import click
import torch
from tokenizers import Tokenizer
from transformers import (
    CodeGenConfig,
    CodeGenForCausalLM,
    GemmaConfig,
    GemmaForCausalLM,
    GPTBigCodeConfig,
    GPTBigCodeForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen2ForCausalLM,
)

LAYERS, WIDTH, HEADS, CONTEXT = 4, 128, 4, 2048
STOP = "<|endoftext|>"
USED_BY = {
    "CodeGen": "SynCode",
    "GPTBigCode": "SynCode (WizardCoder) and Melcer et al. (SantaCoder)",
    "Llama": "SynCode",
    "Gemma": "SynCode",
    "Qwen2": "sLua",
}
TEMPLATE = (
    "{% for message in messages %}{{ message['role'] }}:\n{{ message['content'] }}\n{% endfor %}assistant:\n"
)


def random_model(architecture: str, size: int, stop: int) -> PreTrainedModel:
    """A model of *architecture* with *size* tokens; its weights are drawn by the current seed of torch."""
    ends = {"vocab_size": size, "bos_token_id": stop, "eos_token_id": stop, "pad_token_id": stop}
    of_gpt = {"n_embd": WIDTH, "n_layer": LAYERS, "n_head": HEADS, "n_positions": CONTEXT}
    of_llama = {
        "hidden_size": WIDTH,
        "intermediate_size": 4 * WIDTH,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "num_key_value_heads": 2,
        "max_position_embeddings": CONTEXT,
    }
    makers = {
        "CodeGen": lambda: CodeGenForCausalLM(CodeGenConfig(**of_gpt, n_ctx=CONTEXT, rotary_dim=16, **ends)),
        "GPTBigCode": lambda: GPTBigCodeForCausalLM(GPTBigCodeConfig(**of_gpt, multi_query=True, **ends)),
        "Llama": lambda: LlamaForCausalLM(LlamaConfig(**of_llama, **ends)),
        "Gemma": lambda: GemmaForCausalLM(GemmaConfig(**of_llama, head_dim=WIDTH // HEADS, **ends)),
        "Qwen2": lambda: Qwen2ForCausalLM(Qwen2Config(**of_llama, **ends)),
    }
    return makers[architecture]()


@click.command(help=__doc__)
@click.argument("tokenizer", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path))
@click.option("--seed", default=0, show_default=True)
def main(tokenizer: Path, out: Path, seed: int) -> None:
    """Write the checkpoints."""
    read = Tokenizer.from_file(str(tokenizer))
    size, stop = read.get_vocab_size(), read.token_to_id(STOP)
    for architecture, paper in USED_BY.items():
        torch.manual_seed(seed)
        folder = out / f"random-{architecture.lower()}"
        random_model(architecture, size, stop).save_pretrained(folder)
        PreTrainedTokenizerFast(tokenizer_object=read, eos_token=STOP).save_pretrained(folder)
        settings = folder / "tokenizer_config.json"
        described = json.loads(settings.read_text("utf-8")) | {"chat_template": TEMPLATE}
        if architecture == "Qwen2":
            settings.write_text(json.dumps(described), "utf-8")
        click.echo(f"{folder}: {architecture}, used by {paper}")


if __name__ == "__main__":
    main()
