"""The service `mcp`: tools of MCP servers that members offer to the mesh, run by their owner's peer."""
