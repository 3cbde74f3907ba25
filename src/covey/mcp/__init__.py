"""MCP for agents: tools made from the operations of the contract. The SDK is imported in processes of its own only."""
