"""An MCP server on standard input and output with one tool: the least that makes an agent ask before it calls one."""

from __future__ import annotations

import json
import sys
from typing import Any

TOOL = {
    "name": "ping",
    "description": "Answer with the given word.",
    "inputSchema": {"type": "object", "properties": {"word": {"type": "string"}}},
}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    match method:
        case "initialize":
            return {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "lab", "version": "1"},
            }
        case "tools/list":
            return {"tools": [TOOL]}
        case "tools/call":
            return {"content": [{"type": "text", "text": params["arguments"].get("word", "pong")}]}
    return {}


if __name__ == "__main__":
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:  # the rest are notices, which want no answer
            result = answer(message["method"], message.get("params", {}))
            sys.stdout.write(f"{json.dumps({'jsonrpc': '2.0', 'id': message['id'], 'result': result})}\n")
            sys.stdout.flush()
