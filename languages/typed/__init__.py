"""The core of typed incremental parsers: lexemes, tasks, operators, and the state after each byte."""
