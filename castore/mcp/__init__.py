"""The MCP server: the tools that an agent reads and writes a store with; see docs/mcp.md."""
