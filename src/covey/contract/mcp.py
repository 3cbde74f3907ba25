"""The operation that speaks MCP, and what the status says about it."""

from __future__ import annotations

from covey.contract.operation import Operation, optional, shape

MCP_STATUS = shape("McpStatus", act="boolean", http=optional("string"))

OPERATIONS = (
    Operation(
        "mcp",
        "Speak MCP on standard input and output, so that an agent can ask about the others.",
        cli=["mcp"],
        local="it speaks on the standard input and output of this process",
        description="Give it to an agent once: claude mcp add covey -- covey mcp. Its tools read; they act only after "
        "`covey config set mcp.act true`. What an agent sends to another begins with a line that says so, and no tool "
        "answers an approval. The same over HTTP: `covey config set mcp.http true` and a restart; `covey status` shows "
        "the address.",
        result={"type": "string", "description": "Messages of the protocol, one a line."},
        page=True,
        idempotent=True,
        mcp=False,
    ),
)
