"""Sessions that try to run something, or to break out of where they are shown."""

from __future__ import annotations

import json

__all__ = ["FLAG", "TEXTS", "hostile_session"]

FLAG = "castoreWasRun"
"""A name in the page's window, which stays undefined if nothing of a session runs."""

_SET = f"window.{FLAG}=1"

TEXTS = {
    "script": f"<script>{_SET}</script>",
    "end of script": f"</script><script>{_SET}</script>",
    "end of style": f"</style></title></textarea><svg onload={_SET}>",
    "image": f"<img src=x onerror={_SET}>",
    "attribute": f"\" autofocus onfocus={_SET} x=\"' onmouseover={_SET} '",
    "frame": f'<iframe srcdoc="<script>parent.{FLAG}=1</script>"></iframe>',
    "link": f'javascript:{_SET} <a href="javascript:{_SET}">x</a>',
    "fetched": '<link rel=stylesheet href=//example.com/a.css><img src="https://example.com/a.png">',
    "section": "]]> <![CDATA[ --> <!-- ",
    "template": "{{ 7 * 7 }} {% raw %} {# no #} ${7*7}",
    "entity": "&lt;b&gt; &#x3c;b&#x3e; &amp;",
    "turned": "\u202egnp.exe \u2066 \u200f",
    "nothing": "a\x00b\x1b[31mred\x07\x7f\x85",
    "half": "half \ud800 and \udfff",
    "separators": "a\u2028b\u2029c\r\nd\re",
    "far": "\U000e0041\U000e0042 \ufeff \ue000",
    "stacked": "e" + "\u0301" * 200,
}


def hostile_session() -> bytes:
    """Each text as prose of both sides, as thinking, a tool's name, its arguments, and what it gave back."""
    lines: list[dict[str, object]] = [
        {
            "type": "session",
            "version": 3,
            "id": TEXTS["script"],
            "timestamp": "2026-01-01T00:00:00Z",
            "cwd": "/",
        }
    ]

    def say(**message: object) -> None:
        parent = lines[-1]["id"] if len(lines) > 1 else None
        lines.append({"type": "message", "id": f"{len(lines):08x}", "parentId": parent, "message": message})

    for number, text in enumerate(TEXTS.values()):
        say(role="user", content=text)
        blocks: list[dict[str, object]] = [
            {"type": "thinking", "thinking": text * 3},
            {"type": "text", "text": f"{text}\n{text * 20}"},
            {"type": "toolCall", "id": f"c{number}", "name": text, "arguments": {"path": text, text: [text]}},
        ]
        say(role="assistant", content=blocks, api="anthropic-messages", stopReason="toolUse")
        result = [{"type": "text", "text": text * 40}]
        say(role="toolResult", toolCallId=f"c{number}", toolName=text, content=result, isError=False)
    for _ in range(10):
        say(role="user", content="Go on.")
        say(role="assistant", content=[{"type": "text", "text": "Done."}], stopReason="stop")
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)
