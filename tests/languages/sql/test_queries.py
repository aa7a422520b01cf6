"""Queries over a known schema: what completes is accepted by SQLite, and the first wrong byte is refused."""

import random

import numpy as np
import pytest

from fimlsp.languages.sql.queries import begin
from fimlsp.languages.sql.schema import read_schema
from fimlsp.languages.typed.state import Spaced
from fimlsp.quotient.masks.vocabulary import Vocabulary

from ...sampling import sampled
from ..slua.mutants import mutant
from .judge import SCHEMA, Judge
from .properties import accepts, check_mutant, completed, continued, read, with_unknown_name
from .walks import some_schema, walk
from .writer import Writer

TABLES = read_schema(SCHEMA)
START, JUDGE = begin(TABLES), Judge()


@pytest.mark.parametrize("seed", sampled(range(60), 3))
def test_whatever_is_written_is_accepted_by_sqlite(seed):
    rng = random.Random(seed)
    written = Writer(TABLES, rng).query()
    assert accepts(START, written), written
    texts = [written, walk(START, rng, 60), continued(START, written, rng), completed(START, written, rng)]
    for text in texts:
        assert JUDGE.fault(text) is None, text


@pytest.mark.parametrize("seed", range(40))
def test_names_that_many_tables_share(seed):
    rng = random.Random(seed)
    schema = some_schema(rng)
    text = walk(begin(read_schema(schema)), rng, 60)
    assert Judge(schema).fault(text) is None, (text, schema)


@pytest.mark.parametrize("seed", range(40))
def test_what_sqlite_refuses_is_refused_at_the_first_byte(seed):
    rng = random.Random(seed)
    written = Writer(TABLES, rng).query()
    check_mutant(START, JUDGE, mutant(written, rng))
    unknown = with_unknown_name(TABLES, written, rng)
    if unknown is not None:
        check_mutant(START, JUDGE, *unknown)


@pytest.mark.parametrize("seed", range(20))
def test_the_tokens_that_are_expected_are_taken(seed):
    rng = random.Random(seed)
    state, text = START, walk(START, rng, 40)
    for byte in text.encode():
        state = state.feed(bytes((byte,)))
        if not state.partial:
            for token in state.machine.expected().words:
                assert state.machine.take(token) is not None, (text, token)


@pytest.mark.parametrize("seed", range(20))
def test_pieces_are_read_as_their_bytes(seed):
    rng = random.Random(seed)
    data = mutant(Writer(TABLES, rng).query(), rng).encode() + b" \xe9"
    at, state, by_bytes = 0, START, START
    while state is not None:
        piece = data[at : at + rng.choice((1, 3, 12, 200))]
        state, at = state.feed(piece), at + len(piece)
        for byte in piece:
            by_bytes = by_bytes and by_bytes.feed(bytes((byte,)))
        assert known(state) == known(by_bytes)


def known(state):
    return state and (state.partial, state.character, state.machine.expected(), state.shortest_completion)


# The refused byte, `^`: no query over the schema starts with the text before it and this byte.
REFUSED = [
    "^DELETE FROM customers",
    "SELECT nam^o FROM customers",
    "SELECT quantity FROM customers^;",
    "SELECT zz.na^o",
    "SELECT usr^x.name FROM customers usr",
    "SELECT customers.^price",
    "SELECT name FROM customers, ^products",
    "SELECT c.name FROM orders c^ ",
    "SELECT c.name FROM customers c WHERE c.^price > 1",
    "SELECT name FROM customers WHERE name ^+ 1 > 2",
    "SELECT name FROM customers WHERE name = ^1",
    "SELECT id FROM customers WHERE id ^LIKE 'a'",
    "SELECT id FROM customers WHERE id = ^'1'",
    "SELECT id FROM customers WHERE id^;",
    "SELECT id FROM customers WHERE is_active <^ 1",
    "SELECT sum(nam^e) FROM customers",
    "SELECT id FROM customers WHERE co^unt(*) > 1",
    "SELECT max(cou^nt(*)) FROM customers",
    "SELECT city, count(*) FROM customers ^;",
    "SELECT city, count(*) FROM customers GROUP BY name^;",
    "SELECT city, count(*) FROM customers GROUP BY city HAVING n^ame = 'a'",
    "SELECT city FROM customers GROUP BY city ORDER BY n^ame",
    "SELECT name FROM customers ORDER BY co^unt(*)",
    "SELECT *, cou^nt(*) FROM customers",
    "SELECT count(*), ^* FROM customers",
    "SELECT * FROM customers GROUP^ BY city",
    "SELECT name FROM customers ORDER BY ^7",
    "SELECT name FROM customers LIMIT 1^.5",
    "SELECT name FROM customers c WHERE c^ustomers.id = 1",
    "SELECT id FROM customers WHERE id IN (SELECT id^,",
    "SELECT id FROM customers WHERE id IN (SELECT cit^y FROM customers)",
    "SELECT c.id FROM customers c WHERE EXISTS (SELECT c.qua^lity",
    "SELECT name FROM customers ^-- a comment",
    "SELECT count(*) FROM customers c JOIN orders o ON i^d = 1",
    "WITH r AS (SELECT id + 1 ^FROM customers)",
    "WITH r AS (SELECT id AS n FROM customers) SELECT city FROM r^;",
    'SELECT "unit p^lace" FROM "order"',
    "SELECT name FROM customers, (SELECT name ^FROM products) p",
    "SELECT name FROM (SELECT id AS name^ FROM customers)",
    "SELECT name FROM customers c, (SELECT o.id FROM orders o WHERE c^.id = 1) x",
    "SELECT name FROM (SELECT name FROM customers)^;",
    "SELECT name FROM customers; ^SELECT",
    "SELECT key^word FROM notes",
    "SELECT name = NULL^ FROM customers",
]


@pytest.mark.parametrize("marked", REFUSED)
def test_the_first_wrong_byte_is_refused(marked):
    before, _, after = marked.partition("^")
    state, size = read(START, before + after)
    assert size == len(before), before[:size]
    assert JUDGE.fault(before + state.shortest_completion.decode()) is None


ACCEPTED = [
    "select Name from CUSTOMERS",
    "SELECT DISTINCT c.* FROM customers AS c;",
    'SELECT "UNIT PRICE" * quantity FROM "Order" WHERE quantity BETWEEN 1 AND 2 OR NOT quantity = 3',
    "SELECT name FROM customers WHERE is_active AND is_active = 1 AND is_active <> FALSE",
    "SELECT c.name AS n, sum(quantity) FROM customers c JOIN orders o ON o.customer_id = c.id LEFT JOIN "
    '"order" l ON l.order_id = o.id GROUP BY c.name '
    "HAVING sum(quantity) > 1 ORDER BY n DESC LIMIT 5 OFFSET 2",
    "SELECT u.name, (SELECT count(*) FROM orders o WHERE o.customer_id = u.id) FROM customers u",
    "SELECT name FROM products WHERE price > (SELECT avg(price) FROM products)",
    "SELECT c.id FROM customers c WHERE EXISTS (SELECT * FROM orders o WHERE o.customer_id = c.id)",
    "SELECT city, sum(CASE WHEN is_active THEN 1 ELSE 0 END) FROM customers GROUP BY city",
    "SELECT a.name, b.name FROM customers a, customers b WHERE a.city = b.city AND a.id < b.id",
    "WITH big AS (SELECT customer_id, total AS t FROM totals), b AS (SELECT t FROM big) SELECT t FROM b",
    "SELECT CAST(total AS REAL) / 2 FROM totals WHERE total IS NOT NULL",
    "SELECT count(*) AS count FROM customers ORDER BY count",
    "SELECT key, note FROM notes",
    "SELECT d.name FROM (SELECT name, id AS i FROM customers WHERE id > 1) d, (SELECT note FROM notes) e",
    "SELECT name FROM customers JOIN (SELECT customer_id, count(*) AS n FROM orders GROUP BY customer_id) "
    "AS t ON t.customer_id = id WHERE n > 1",
    "SELECT name\n\tFROM customers",
    "SELECT 'it''s; --' || name FROM products WHERE name IN ('a', 'b') AND name NOT LIKE '%é'",
]


@pytest.mark.parametrize("text", ACCEPTED)
def test_what_people_write(text):
    assert read(START, text)[1] == len(text.encode()), text.encode()[: read(START, text)[1]]
    assert accepts(START, text)
    assert JUDGE.fault(text) is None


@pytest.mark.parametrize(
    ("text", "completion"),
    [
        ("", "SELECT * FROM notes"),
        ("SEL", "ECT * FROM notes"),
        ("select ", "* FROM notes"),
        ("SELECT zz.", "id FROM orders zz"),
        ("SELECT email, price", " FROM customers, products"),
        ("SELECT name, count(*) FROM customers", " GROUP BY name"),
        ("SELECT name FROM customers WHERE name", " = ''"),
        ("SELECT 'it", "' FROM notes"),
        ('SELECT "unit', ' price" FROM "order"'),
        ("SELECT c.id, o.code FROM customers c JOIN orders o", " ON TRUE"),
        ("SELECT id FROM customers WHERE id IN (", "0)"),
        ("WITH r", " AS (SELECT 0 AS a FROM notes) SELECT * FROM r"),
        ("SELECT name FROM customers LIMIT", " 1"),
    ],
)
def test_the_shortest_completion(text, completion):
    assert START.feed(text.encode()).shortest_completion.decode() == completion
    assert JUDGE.fault(text + completion) is None


def test_a_state_is_not_changed_by_what_is_fed():
    state = START.feed(b"SELECT c.name FROM ")
    assert state.feed(b"customers c").complete
    assert state.feed(b"products c").complete
    assert state.feed(b"orders c ") is None


def test_white_space_between_lexemes_has_no_runs():
    state = Spaced(START)
    assert state.feed(b"SELECT name\n  FROM customers").complete
    assert state.feed(b"SELECT '  ', name").feed(b"  ") is None
    assert state.feed(b"SELECT\n\n") is None


@pytest.mark.parametrize("text", ["", "SELECT c.", "SELECT name FR", "SELECT name FROM customers WHERE "])
@pytest.mark.parametrize("wrapped", [False, True])
def test_masks_are_what_feed_accepts(text, wrapped):
    tokens = [
        b"SEL",
        b"na",
        b"name",
        b"OM",
        b" FROM",
        b"id",
        b"'",
        b"cust",
        b" ",
        b"  ",
        b"\n",
        b"1",
        b"x.",
        b"*",
    ]
    state = START.feed(text.encode())
    state = Spaced(state) if wrapped else state
    vocabulary = Vocabulary([*tokens, None], stops=(len(tokens),))
    wanted = [state.feed(token) is not None for token in tokens] + [state.complete]
    bits = np.unpackbits(state.mask(vocabulary).view(np.uint8), bitorder="little")[: len(wanted)]
    assert bits.tolist() == wanted
