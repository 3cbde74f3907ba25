"""What a statement is, by its words alone."""

from __future__ import annotations

import pytest

from covey.mesh.services.graph.statement import is_read, with_created
from murli import AgentError


@pytest.mark.parametrize(
    "statement",
    [
        "MATCH (n) RETURN n",
        "  /* SET */ match (n) // DELETE\n return n",
        "RETURN 'CREATE (n)' AS text",
        'RETURN "it\\"s SET" AS x',
        "MATCH (n:Set) WHERE n.delete = 1 RETURN n.create",
        "MATCH (n {name: $set}) RETURN `MERGE`",
        "EXPLAIN CREATE (n)",
        "CALL { MATCH (n) RETURN n } RETURN n",
        "MATCH (n) RETURN n.load AS csv",
    ],
)
def test_what_only_reads_is_a_read(statement: str) -> None:
    assert is_read(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE (n)",
        "match (n) set n.x = 1",
        "MATCH (n) DETACH/**/DELETE n",
        "RETURN 'a\\' AS x' UNION MERGE (n) RETURN 1 AS x",
        "CALL { CREATE (n) } RETURN 1 AS x",
        "DROP INDEX x",
        "SOMETHING new",
        "PROFILE CREATE (n)",
        "RETURN '/*' CREATE (n) // */",
    ],
)
def test_what_is_not_clearly_a_read_is_a_write(statement: str) -> None:
    assert not is_read(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "LOAD CSV FROM '/etc/passwd' AS line RETURN line",
        "load/*x*/csv FROM $x AS line RETURN line",
        "MATCH (n) CALL { LOAD // CSV\n CSV WITH HEADERS FROM 'x' AS l RETURN l } RETURN l",
        "RETURN 'a\\'' LOAD\tCSV FROM 'x' AS y",
        "EXPLAIN LOAD CSV FROM 'x' AS y RETURN y",
        "",
        " /* nothing",
        "RETURN '\0'",
        "RETURN '\ud800'",
        "RETURN '" + "x" * 70_000 + "'",
    ],
)
def test_what_reads_files_or_is_none_is_refused(statement: str) -> None:
    with pytest.raises(AgentError):
        is_read(statement)


def test_what_create_has_made_is_returned_whole() -> None:
    assert with_created("CREATE (a)-[r:R {x: 'RETURN'}]->(b) RETURN a") == (
        "CREATE (a)-[r:R {x: 'RETURN'}]->(b) WITH * RETURN a"
    )
    for unchanged in ("CREATE (a)", "MATCH (n) RETURN n", "CREATE (a) WITH a RETURN a", "MERGE (a) RETURN a"):
        assert with_created(unchanged) == unchanged
