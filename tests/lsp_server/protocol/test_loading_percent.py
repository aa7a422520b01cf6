"""Progress of loading a model."""

from fimlsp.lsp_server.worker.backend import GRAMMAR_PERCENT, distinct_percents


def test_each_percent_is_told_once_and_in_order():
    told = []
    tell = distinct_percents(told.append)
    for number in range(1001):
        tell(number / 1000)
    assert told == list(range(GRAMMAR_PERCENT + 1, 101))
