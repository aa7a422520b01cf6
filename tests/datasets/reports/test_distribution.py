import pytest

from fimlsp.datasets.reports.distribution import Distribution, size_class


@pytest.mark.parametrize(
    ("size", "limit"), [(0, 1024), (1023, 1024), (1024, 2048), (5000, 8192), (8192, 16384)]
)
def test_size_classes_are_powers_of_two(size, limit):
    assert size_class(size) == limit


def test_distributions():
    assert Distribution.of([]) is None
    assert Distribution.of([7]) == Distribution(n=1, median=7, p90=7, max=7, mean=7)
    assert Distribution.of([4, 1, 2, 3]) == Distribution(n=4, median=3, p90=4, max=4, mean=2.5)
    assert Distribution.of(range(1, 101)).p90 == 91
