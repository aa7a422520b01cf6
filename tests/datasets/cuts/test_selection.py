import json

import pytest

from fimlsp.datasets.cuts import FileCases, Selection, Shard, limited, read_cases
from fimlsp.datasets.sources import Excluded, Filters

TEXTS = {
    "a.py": "def f():\n    return 1\n",
    "b.py": "x = [1,\n     2]\n",
    "c.py": "def f():\r\n    return 1\r\n",  # a.py again
    "d.py": "print 1\n",
    "e.py": "if a: b\n",
    "f.py": "y = 0\n" * 40,
    "g.py": "pass\n",
}


@pytest.fixture
def source(tmp_path):
    for name, text in TEXTS.items():
        (tmp_path / name).write_bytes(text.encode())
    return str(tmp_path)


def select(source, **changes):
    return Selection((source,), **{"per_file": 2, "filters": Filters(bytes_max=200), **changes})


def cases(selected):
    return [record.case for item in selected if isinstance(item, FileCases) for record in item.records]


def reasons(selected):
    return {item.name[-4:]: item.reason for item in selected if isinstance(item, Excluded)}


def test_files_are_cut_or_left_out(source):
    selected = list(select(source))
    assert len(cases(selected)) == len(set(cases(selected))) == 4 * 2 * 2
    assert reasons(selected) == {
        "c.py": "same text as an earlier file",
        "d.py": "does not parse",
        "f.py": "larger than 200 bytes",
    }


@pytest.mark.parametrize("count", [1, 2, 3, 9])
def test_shards_partition_cases_and_exclusions(source, count):
    whole = list(select(source))
    parts = [list(select(source, shard=Shard(n, count))) for n in range(1, count + 1)]
    assert sorted(case for part in parts for case in cases(part)) == sorted(cases(whole))
    merged = {name: reason for part in parts for name, reason in reasons(part).items()}
    assert merged == reasons(whole)
    assert sum(len(reasons(part)) for part in parts) == len(reasons(whole))


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (range(2), ["a.py", "b.py"]),
        (range(4, 1 << 62), ["e.py", "g.py"]),
        (range(0, 9, 3), ["a.py", "g.py"]),
    ],
    ids=str,
)
def test_files_are_chosen_by_number(source, files, names):
    selected = [item for item in select(source, files=files) if isinstance(item, FileCases)]
    assert [task.file.name[-4:] for task in selected] == names


def test_rows_in_another_language_have_no_number(tmp_path):
    rows = [
        {"lang": lang, "content": f"x = {n}\n"} for n, lang in enumerate(["Ada", "Python", "C", "Python"])
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    selected = list(Selection((str(tmp_path / "rows.jsonl"),), files=range(1)))
    assert [task.file.name for task in selected if isinstance(task, FileCases)] == ["rows.jsonl#1"]
    assert reasons(selected) == {"nl#0": "another language", "nl#2": "another language"}


def test_the_same_seed_gives_the_same_cases(source):
    def cuts(seed):
        tasks = [item for item in select(source, seed=seed) if isinstance(item, FileCases)]
        return [record.cut for task in tasks for record in task.records]

    assert cuts(3) == cuts(3) != cuts(4)


@pytest.mark.parametrize("limit", [None, 0, 1, 5, 16, 99])
def test_a_limit_takes_the_first_cases(source, limit):
    whole = cases(select(source))
    assert cases(limited(iter(select(source)), limit)) == whole[:limit]


def test_the_estimate_is_never_too_low(source):
    assert select(source).estimate() == 7 * 2 * 2 >= len(cases(select(source)))
    assert select(source, files=range(0, 99, 3)).estimate() == 3 * 2 * 2


def test_saved_cases_are_cut_again_wherever_their_file_is(source, tmp_path):
    tasks = [item for item in select(source) if isinstance(item, FileCases)]
    path = tmp_path / "cases"
    rows = [record.to_json() for task in tasks for record in task.records]
    rows.append({**rows[0], "source": "f" * 64, "name": "gone.py"})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    again = list(select(source, saved=read_cases(path), seed=99))
    assert [item for item in again if isinstance(item, FileCases)] == tasks
    assert reasons(again) == {
        "c.py": "same text as an earlier file",
        "e.py": "no file with the hash of saved cases",  # the end of gone.py
        "f.py": "larger than 200 bytes",
    }
    parts = [list(select(source, saved=read_cases(path), shard=Shard(n, 3))) for n in (1, 2, 3)]
    assert sorted(cases([item for part in parts for item in part])) == sorted(cases(again))
    assert {name: reason for part in parts for name, reason in reasons(part).items()} == reasons(again)


def test_results_of_a_run_serve_as_saved_cases(source, tmp_path):
    (task, *_) = (item for item in select(source) if isinstance(item, FileCases))
    path = tmp_path / "results.jsonl"
    path.write_text("".join(json.dumps({"record": r.to_json()}) + "\n" for r in task.records))
    assert read_cases(path) == {task.file.hash: list(task.records)}


@pytest.mark.parametrize("line", ["{", "[]", '{"kind": "line"}', "1"])
def test_what_is_no_saved_case_says_which_line(tmp_path, line):
    (tmp_path / "cases.jsonl").write_text(line + "\n")
    with pytest.raises(ValueError, match=r"line 1 of cases\.jsonl"):
        read_cases(tmp_path / "cases.jsonl")
