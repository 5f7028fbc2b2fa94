"""The server as the SDK has it: which tools and resources there are, and how answers become results.

Law: every failure of a tool is a result with `isError` and a code in its structured content; only what is no
call of a tool of ours is an error of the protocol.
"""

from __future__ import annotations

from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

import castore
from castore.mcp.arguments import schema
from castore.mcp.pool import Pool
from castore.mcp.reading import SCHEME
from castore.mcp.tools import INSTRUCTIONS, TOOLS, Tool
from castore.mcp.transport import MESSAGE_BYTES_MAX, UNREADABLE

__all__ = ["make_server"]

Context = ServerRequestContext[Any, Any]


def make_server(pool: Pool, *, may_write: bool) -> Server[Any]:
    """A server whose calls the pool answers. may_write: the tools that write are there."""
    tools = {name: tool for name, tool in TOOLS.items() if may_write or not tool.writes}
    handlers = _Handlers(pool, tools)
    server: Server[Any] = Server(
        "castore",
        version=castore.__version__,
        title="castore",
        instructions=INSTRUCTIONS,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
    )
    server.middleware.clear()  # Tracing, which nobody has set up here.
    server.add_request_handler(UNREADABLE, types.RequestParams, handlers.unreadable)
    return server


class _Handlers:
    def __init__(self, pool: Pool, tools: dict[str, Tool]) -> None:
        self._pool = pool
        self._tools = tools

    async def list_tools(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_tool(each) for each in self._tools.values()])

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name not in self._tools:
            raise MCPError(types.INVALID_PARAMS, f"no tool '{params.name[:40]}'")
        found = await self._pool.ask({"tool": params.name, "arguments": params.arguments or {}})
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=found["text"])],
            structured_content=found["structured"],
            is_error=found.get("is_error", False),
        )

    async def list_resources(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        found = await self._asked({"act": "resources"})
        return types.ListResourcesResult(
            resources=[types.Resource.model_validate(each) for each in found["resources"]]
        )

    async def list_templates(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        template = types.ResourceTemplate(
            name="object",
            title="A stored object",
            uri_template=f"{SCHEME}{{digest}}",
            description="An object by its digest, or its first digits; ctx_read reads parts of long ones.",
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        if not params.uri.startswith(SCHEME):
            raise MCPError(types.INVALID_PARAMS, f"resources of this server begin with {SCHEME}")
        found = await self._asked({"act": "resource", "uri": params.uri})
        contents: types.TextResourceContents | types.BlobResourceContents
        if "text" in found:
            contents = types.TextResourceContents(
                uri=params.uri, mime_type=found["mimeType"], text=found["text"]
            )
        else:
            contents = types.BlobResourceContents(
                uri=params.uri, mime_type=found["mimeType"], blob=found["blob"]
            )
        return types.ReadResourceResult(contents=[contents])

    async def unreadable(self, context: Context, params: types.RequestParams) -> types.EmptyResult:
        raise MCPError(
            types.PARSE_ERROR,
            f"the message can't be read: it is no valid JSON in UTF-8, or over {MESSAGE_BYTES_MAX:,} bytes",
        )

    async def _asked(self, request: dict[str, Any]) -> dict[str, Any]:
        found = await self._pool.ask(request)
        failure = found.get("failure")
        if failure is not None:
            code = types.INTERNAL_ERROR if failure["error"] == "internal" else types.INVALID_PARAMS
            raise MCPError(code, failure["message"], failure)
        return found


def _tool(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=schema(tool.arguments),
        output_schema=dict(tool.output),
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=not tool.writes,
            destructive_hint=False,
            idempotent_hint=True,
            open_world_hint=False,
        ),
    )
