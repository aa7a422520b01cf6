"""The success of replay on real files, with a trained model and with random weights."""

import pytest

from fimlsp.datasets.bench import Bench, BenchSettings
from fimlsp.datasets.cuts import FileCases, Selection, limited

from ...models.tiny_checkpoints import FIMLSP, byte_tokenizer, llama, write_checkpoint

CASES = 120
TOKENS = 60
OUT_OF_REACH = {None, "ran out of tokens", "50 candidates refused"}


def random_weights(folder):
    tokenizer = byte_tokenizer(FIMLSP)
    network = llama(tokenizer.get_vocab_size(), max_position_embeddings=1024)
    return str(write_checkpoint(folder, network, tokenizer))


@pytest.mark.slow
@pytest.mark.parametrize("weights", ["bundled", "random"])
def test_every_case_connects_with_steering_and_nothing_wrong_is_accepted(weights, tmp_path):
    bench = Bench(BenchSettings(random_weights(tmp_path) if weights == "random" else None, "cpu", TOKENS))
    selected = limited(iter(Selection(("stdlib",), per_file=2, files=range(0, 1 << 62, 17))), CASES)
    results = [
        bench.run(task.file, record)
        for task in selected
        if isinstance(task, FileCases)
        for record in task.records
    ]
    assert len(results) == CASES
    assert [result.crash for result in results if result.crash] == []
    assert [result.case for result in results if not result.attempts["steered"].ok] == []
    assert {result.attempts["constrained"].cause for result in results} <= OUT_OF_REACH
    assert all(result.attempts[name].text is None or result.attempts[name].ok
               for result in results for name in ("longest", "best", "constrained"))  # fmt: skip
