"""Random queries as people write them, made from the tables first; the parser has to accept each."""

from fimlsp.languages.sql.schema import Type

NUMBER, TEXT, BOOLEAN, BLOB = Type
ALIASES = ("a", "b", "c", "o", "t1", "T2", "cu", "_s")
JOINS = ("JOIN", "INNER JOIN", "LEFT JOIN", "LEFT OUTER JOIN", "join")


class Writer:
    """Writes one query over *schema* with the draws of *rng*."""

    def __init__(self, schema, rng):
        self._rng = rng
        self._schema = schema
        self._tables = {name: dict(table.columns) for name, table in schema.tables.items()}
        types = {}
        for column, type_ in (pair for columns in self._tables.values() for pair in columns.items()):
            types.setdefault(column, set()).add(type_)
        self._mixed = frozenset(column for column, found in types.items() if len(found) > 1)

    def query(self):
        defined = ""
        if self._rng.random() < 0.25:
            name, columns, text = "recent", {}, []
            table, known = self._rng.choice([*self._tables.items()])
            for number, (column, type_) in enumerate(self._rng.sample([*known.items()], 2)):
                text.append(f"{column} AS c{number}" if self._rng.random() < 0.5 else column)
                columns[f"c{number}" if text[-1] != column else column] = type_
            defined = f"WITH {name} AS (SELECT {', '.join(text)} FROM {table}) "
            self._tables[name] = columns
        main = self._derived() if self._rng.random() < 0.1 else self._select(2)
        return defined + main + self._rng.choice(("", "", ";"))

    def _derived(self):
        """A query with another one in `FROM`."""
        rng = self._rng
        table = rng.choice([*self._tables])
        names = self._columns([(table, table)], is_qualified=True)
        column = rng.choice([*names])
        where = f" WHERE {self._comparison(names)}" if rng.random() < 0.5 else ""
        inner = f"SELECT {column}, count(*) AS n FROM {table}{where} GROUP BY {column}"
        items = rng.choice(("count(*)", "*", "1", f"d.{column.split('.')[1]}"))
        rest = rng.choice(("", " WHERE n > 1", f" WHERE d.n < 3 AND {column.split('.')[1]} IS NOT NULL"))
        return f"SELECT {items} FROM ({inner}) {rng.choice(('', 'AS '))}d{rest}"

    def _select(self, depth):
        rng = self._rng
        sources = self._sources(rng.choice((1, 1, 1, 2, 2, 3)))
        tables, names = self._from(sources), self._columns(sources)
        where = f" WHERE {self._condition(names, depth)}" if rng.random() < 0.6 else ""
        kind = rng.choice(("star", "columns", "columns", "grouped", "counted"))
        limit = f" LIMIT {rng.randint(1, 50)}" if rng.random() < 0.3 else ""
        limit += f" OFFSET {rng.randint(0, 9)}" if limit and rng.random() < 0.3 else ""
        if kind == "star":
            items = [rng.choice(["*", *(f"{name}.*" for name, _ in sources)])]
            rest = self._order(names) + limit
        elif kind == "columns":
            items = [self._value(names, self._some_type(names), 1) for _ in range(rng.randint(1, 3))]
            mixed = [
                f"{name}.{c}" for name, table in sources for c in self._tables[table] if c in self._mixed
            ]
            items += rng.sample(mixed, min(1, len(mixed)))
            items = [f"{item} AS x{n}" if rng.random() < 0.2 else item for n, item in enumerate(items)]
            rest = self._order(names) + limit
        elif kind == "counted":
            items, rest = [self._aggregate(names) for _ in range(rng.randint(1, 2))], ""
        else:
            groups = dict(rng.sample([*names.items()], rng.randint(1, min(2, len(names)))))
            items = [*groups, self._aggregate(names)]
            rest = f" GROUP BY {', '.join(groups)}"
            rest += f" HAVING {self._aggregate(names, NUMBER)} > 1" if rng.random() < 0.4 else ""
            rest += rng.choice(("", f" ORDER BY {rng.choice([*groups])} DESC", " ORDER BY COUNT(*)"))
        distinct = "DISTINCT " if rng.random() < 0.1 else ""
        return f"SELECT {distinct}{', '.join(items)} FROM {tables}{where}{rest}"

    def _sources(self, count):
        """Names for some tables: their own, or short ones."""
        tables = self._rng.sample([*self._tables], min(count, len(self._tables)))
        aliases = self._rng.sample(ALIASES, len(tables))
        return [
            (alias if self._rng.random() < 0.6 else table, table)
            for alias, table in zip(aliases, tables, strict=True)
        ]

    def _from(self, sources):
        rng, text = self._rng, ""
        for number, (name, table) in enumerate(sources):
            called = table if name == table else f"{table} {rng.choice(('AS ', ''))}{name}"
            known = self._columns(sources[: number + 1], is_qualified=True)
            join = rng.choice((", ", " CROSS JOIN ", *(f" {join} " for join in JOINS * 2)))
            on = "" if join in (", ", " CROSS JOIN ") else f" ON {self._comparison(known)}"
            text += f"{join}{called}{on}" if number else called
        return text

    def _columns(self, sources, *, is_qualified=False):
        """The columns of *sources* as they can be written, with their types.

        Columns that have another type in another table stay out: before `FROM` they may only stand alone.
        """
        columns = [
            (name, column, type_) for name, table in sources for column, type_ in self._tables[table].items()
        ]
        counts = {}
        for _, column, _ in columns:
            counts[column] = counts.get(column, 0) + 1
        return {
            column
            if not is_qualified and counts[column] == 1 and self._rng.random() < 0.5
            else f"{name}.{column}": type_
            for name, column, type_ in columns
            if column not in self._mixed
        }

    def _some_type(self, names):
        return self._rng.choice([*names.values()])

    def _order(self, names):
        if self._rng.random() < 0.6:
            return ""
        terms = self._rng.sample([*names], min(2, len(names)))
        return f" ORDER BY {', '.join(term + self._rng.choice(('', ' ASC', ' desc')) for term in terms)}"

    def _aggregate(self, names, type_=None):
        rng = self._rng
        of = {kind: [name for name, found in names.items() if found is kind] for kind in Type}
        texts = ["COUNT(*)", f"count(DISTINCT {rng.choice([*names])})"]
        texts += [f"{rng.choice(('SUM', 'avg', 'Total', 'MIN'))}({name})" for name in of[NUMBER]]
        texts += [f"max({name})" for name in of[TEXT]] if type_ is None else []
        return rng.choice(texts)

    def _value(self, names, type_, depth):
        rng = self._rng
        columns = [name for name, found in names.items() if found is type_]
        if columns and (rng.random() < 0.7 or not depth):
            return rng.choice(columns)
        if type_ is NUMBER:
            left, right = self._value(names, NUMBER, 0), self._value(names, NUMBER, 0)
            return rng.choice(
                (
                    "1",
                    "2.50",
                    f"{left} {rng.choice('+-*/%')} {right}",
                    f"round({left}, 2)",
                    f"-({left})",
                    f"ABS({left})",
                )
            )
        if type_ is TEXT:
            left = self._value(names, TEXT, 0) if depth else "'x'"
            cases = f"CASE WHEN {self._comparison(names)} THEN {left} ELSE 'other' END"
            return rng.choice(
                ("'it''s'", f"upper({left})", f"{left} || ' ' || {left}", f"coalesce({left}, 'n')", cases)
            )
        return "TRUE" if type_ is BOOLEAN else "CAST('a' AS BLOB)"

    def _comparison(self, names):
        rng, type_ = self._rng, self._some_type(names)
        left, right = self._value(names, type_, 0), self._value(names, type_, 0)
        signs = ("=", "<>", "!=") if type_ in (BOOLEAN, BLOB) else ("=", "<", ">=", "<>")
        return f"{left} {rng.choice(signs)} {right}"

    def _condition(self, names, depth):
        rng = self._rng
        numbers = [name for name, type_ in names.items() if type_ is NUMBER]
        texts = [name for name, type_ in names.items() if type_ is TEXT]
        left = self._comparison(names)
        kinds = [left, f"{rng.choice([*names])} IS {rng.choice(('', 'NOT '))}NULL", f"NOT {left}"]
        if numbers:
            name = rng.choice(numbers)
            kinds += [f"{name} BETWEEN 1 AND {rng.choice(numbers)} + 2", f"{name} not in (1, 2, 3)"]
            kinds += [f"{name} > (SELECT max(price) FROM products)"] * (depth > 0)
            kinds += [f"{name} IN (SELECT o.customer_id FROM orders o)"] * (depth > 0)
        if texts:
            kinds += [f"{rng.choice(texts)} LIKE '%a_'", f"{rng.choice(texts)} in ('a', 'b')"]
        qualified = [name for name in numbers if "." in name]
        if qualified and depth > 0:
            kinds.append(f"EXISTS (SELECT 1 FROM products pp WHERE pp.id = {rng.choice(qualified)})")
        text = rng.choice(kinds)
        if depth > 1 and rng.random() < 0.4:
            text = f"{text} {rng.choice(('AND', 'or'))} ({self._condition(names, depth - 1)})"
        return text
