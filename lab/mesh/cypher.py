"""Statements in Cypher, made by chance: valid ones, near misses, damaged ones, and some that are after files."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

LABELS = ["A", "B", "Person", "`odd label`", "Task"]
TYPES = ["R", "KNOWS", "`odd type`"]
KEYS = ["x", "name", "`a b`", "id", "created"]
VALUES = ["1", "-2.5", "'text'", "true", "null", "[1, 'a', null]", "{k: 1}", "$p", "$__now", "1e308", "0/0.0", "''"]
FUNCTIONS = [
    *(
        "toString(n.x)",
        "size([1])",
        "rand()",
        "randomUUID()",
        "timestamp()",
        "date()",
        "datetime()",
        "date({month: 2})",
    ),
    *("coalesce(n.x, 0)", "labels(n)", "properties(n)", "keys(n)", "id(n)", "range(1, 5)", "abs(-1)", "nothing(1)"),
    *("reduce(s = 0, i IN [1] | s + i)", "[i IN range(1, 3) WHERE i > 1 | i]", "pageRank()", "substring('abc', 1)"),
    *("split('a,b', ',')", "shortestPath((n)-[*]->(m))", "duration('P1D')", "toInteger('x')", "n.x =~ '(a+)+b'"),
    *("exists(n.x)", "point({x: 1})"),
]
JUNK = [*"()[]{}'\"`\0\\$|*;é\U0001f600", "/*", "*/", "//", ".."]
CRASHING = "RETURN * UNION RETURN 1 AS n"
"""A statement that ends the engine."""
STEALING_SHARE, CRASHING_SHARE, RETURNING_SHARE, UNION_SHARE, CALL_SHARE, DAMAGED_SHARE = (
    0.06,
    0.001,
    0.8,
    0.1,
    0.06,
    0.2,
)


class Statements:
    """Makes statements. `secret` is a file that none of them may read."""

    def __init__(self, chance: random.Random, secret: str) -> None:
        self._chance = chance
        self._secret = secret

    def make(self) -> str:
        """Return one statement."""
        pick = self._chance.random()
        if pick < CRASHING_SHARE:
            return CRASHING
        if pick < CRASHING_SHARE + STEALING_SHARE:
            return self._stealing()
        text = " ".join(self._clause() for _ in range(self._chance.randint(1, 4)))
        if self._chance.random() < RETURNING_SHARE:
            text = f"{text} RETURN {self._returned()}"
        if self._chance.random() < UNION_SHARE:
            text = f"{text} UNION {self._clause()} RETURN {self._returned()}"
        if self._chance.random() < CALL_SHARE:
            text = f"CALL {{ {text} }} RETURN 1 AS one"
        return self._damaged(text) if self._chance.random() < DAMAGED_SHARE else text

    def _stealing(self) -> str:
        gap = self._chance.choice([" ", "\t", "\n", "/**/", "/*x*/ ", "//x\n", "  /* ' */  "])
        words = self._chance.choice(["LOAD{}CSV", "load{}csv", "LoAd{}cSv", "`LOAD`{}CSV", "LOAD{}CSV WITH HEADERS"])
        place = self._chance.choice([f"'{self._secret}'", f"'file://{self._secret}'", f'"{self._secret}"', "$file"])
        text = f"{words.format(gap)} FROM {place} AS line"
        end = self._chance.choice(["RETURN line", "CREATE (:Stolen {line: line})", "WITH line RETURN line"])
        around = self._chance.choice(
            ["{}", "CALL {{ {} }} RETURN line", "MATCH (n) {}", "EXPLAIN {}", "RETURN '\\'' {}"]
        )
        return around.format(f"{text} {end}")

    def _clause(self) -> str:
        some = self._chance.choice
        pattern = f"(n:{some(LABELS)} {{{some(KEYS)}: {some(VALUES)}}})-[r:{some(TYPES)}*0..2]->(m)"
        return some(
            [
                f"MATCH (n:{some(LABELS)})",
                f"MATCH {pattern}",
                f"OPTIONAL MATCH (n)-[r]-(m:{some(LABELS)}) WHERE {some(FUNCTIONS)} = {some(VALUES)}",
                f"UNWIND {some(FUNCTIONS)} AS n",
                f"WITH n, {some(FUNCTIONS)} AS m",
                f"CREATE (n:{some(LABELS)} {{{some(KEYS)}: {some(VALUES)}}})-[r:{some(TYPES)}]->(m)",
                f"MERGE (n:{some(LABELS)} {{{some(KEYS)}: {some(VALUES)}}}) ON CREATE SET n.y = {some(FUNCTIONS)}",
                f"SET n.{some(KEYS)} = {some(VALUES + FUNCTIONS)}",
                f"SET n += {some(VALUES)}",
                f"REMOVE n.{some(KEYS)}",
                "DETACH DELETE n",
                f"FOREACH (i IN range(1, 3) | CREATE (:{some(LABELS)} {{i: i}}))",
                "WITH *",
                f"CREATE INDEX FOR (n:{some(LABELS)}) ON (n.{some(KEYS)})",
            ]
        )

    def _returned(self) -> str:
        some = self._chance.choice
        return some(
            [
                "*",
                "n",
                "n, r, m",
                "count(*)",
                f"{some(FUNCTIONS)} AS value",
                f"n.{some(KEYS)} ORDER BY n.x LIMIT 3",
                "1",
            ]
        )

    def _damaged(self, text: str) -> str:
        for _ in range(self._chance.randint(1, 3)):
            at = self._chance.randrange(len(text) + 1)
            cut = self._chance.choice([0, 0, 1, 5])
            text = text[:at] + self._chance.choice([*JUNK, "", text[:10], "(" * 300]) + text[at + cut :]
        return text
