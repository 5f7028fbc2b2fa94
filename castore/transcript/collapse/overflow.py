"""Overflow: which errors of model APIs say that the prompt was too long, and by how much.

Laws:
- An error is an overflow if sending less would have helped: what was sent, or it and the reply that was asked
  for, is more than the model takes, or than its API takes at once. Rate limits, limits of the reply alone,
  images, timeouts, filters and replies that were cut are none.
- Nothing of the error is run, nor of its class, nor of that one's: attributes are read where they are kept,
  so neither properties nor `__str__` of it are called, and none can raise. Cycles end, and of any text only
  the beginning and the end are looked at.
- An error is told by what it says, not by what it quotes: words that other sentences may have as well count
  where a text, a clause or the value of a member begins with them.
- Of a chain the outer error decides if it can; one that tells nothing of itself is as its cause, or as what
  was handled when it was raised.

The words are those that APIs send. Where each was seen is said beside it: in the reports of users to the
project that is named, which quote the error whole; none of them is promised by a vendor.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any

__all__ = ["Overflow", "is_overflow", "overflow_of"]


@dataclass(frozen=True, slots=True)
class Overflow:
    """tokens: what was asked for, with the reply where the API counts that in; limit: what the model takes.
    None: the error does not say."""

    tokens: int | None = None
    limit: int | None = None


def is_overflow(error: object) -> bool:
    """Whether the error says that the prompt was too long: an exception of an API's client, the JSON body of
    an API's answer (a dict, or a list of them), or a text."""
    return overflow_of(error) is not None


def overflow_of(error: object) -> Overflow | None:
    """What the error says of an overflow; None if it is none."""
    for said in _chain(error):
        verdict = _verdict(said)
        if verdict is not None:
            return _numbers(said) if verdict else None
    return None


# --- The words -------------------------------------------------------------------------------------

_N = r"[0-9][0-9,_]{0,14}"
_SURE = re.compile(
    r"\b(?:"
    # OpenAI and all that speak like it: codex, letta, Groq's client. Not what its own clients make of it.
    r"context_length_exceeded"
    # Of LiteLLM, an exception for all vendors: Devon.
    r"|context_?window_?exceeded(?:error)?"
    # llama.cpp's server: its pull request 15780.
    r"|exceed_context_size_error"
    # z.ai, where it is an error: pi. As a reason to stop it is none, and is not looked at.
    r"|model_context_window_exceeded"
    # GitHub Copilot.
    r"|model_max_prompt_tokens_exceeded"
    # Anthropic, with 413, and the exception of its client: anthropic-sdk-python 938.
    r"|request_?too_?large(?:_?error)?"
    r")\b",
    re.IGNORECASE,
)
"""Codes, types and classes of errors, wherever they stand."""

_OVERFLOWS = re.compile(
    "|".join(
        (
            # Anthropic, on its own API, Bedrock and Vertex: claude-code, bolt.new, exe.dev.
            rf"prompt is too long: {_N} tokens",
            # OpenAI's Responses ("the context window of this model"): codex, onyx; Anthropic, 413 ("model
            # context window") and 400 ("context limit"): claude-code; llama.cpp ("the available context
            # size"): llama.cpp 15780; llama-cpp-python ("context window of 2048"); Ollama, LiteLLM: pi.
            r"exceed(?:s|ed)? (?:the |this |your )?(?:(?:model(?:.?s)?|available|max(?:imum)?|allowed) ){0,3}"
            r"context (?:window|length|limit|size)",
            # OpenAI's Chat, Azure, DeepSeek, vLLM ("this model's"), OpenRouter ("this endpoint's").
            rf"maximum context length is {_N}",
            # Groq, Cerebras, OpenAI.
            r"reduce the length of (?:the|your) (?:messages|prompt|input)",
            # OpenAI, GPT-5: letta.
            rf"input tokens exceed the configured limit of {_N}",
            # Gemini: gemini-cli; with and without the number. Vertex: gemini-cli 19727.
            r"input token count (?:\S{1,20} )?exceeds the maximum number of tokens",
            rf"input token count is {_N} but (?:the )?model only supports",
            r"too many input tokens",
            # Mistral: pi.
            rf"too large for model with {_N} maximum context length",
            # xAI: cline 3120.
            rf"maximum prompt length is {_N}",
            # Together: pi.
            r"is longer than the model.?s context length",
            # GitHub Copilot: pi.
            rf"prompt token count of {_N} exceeds the limit",
            # MiniMax, Kimi: pi.
            r"context window exceeds limit",
            r"exceeded model token limit",
            # LM Studio: pi; its bug tracker, 546.
            r"greater than the context length",
            rf"loaded with context length of only {_N}",
            # vLLM: vllm 12165, xorbits 3785; SGLang: sglang 4048; poolside by OpenRouter: pi.
            rf"\(length {_N}\) is longer than the maximum model length",
            r"is too long to fit into the model",
            rf"input length \(?{_N}(?: tokens)?\)? exceeds the maximum allowed",
            # Text Generation Inference: UI-TARS-desktop 626.
            r".inputs. tokens \+ .max_new_tokens. must be <=",
            # DashScope: Qwen-Agent 615.
            rf"range of input length should be \[{_N}, ?{_N}\]",
            # Cohere, which says how many are too many behind the colon: langchain.
            r"too many tokens: ",
            # What stands before an API: nginx, Cloudflare; and clients that got no body: pi.
            r"\b413 (?:status code \(no body\)|request entity too large|payload too large|content too large)",
        )
    ),
    re.IGNORECASE,
)

_QUOTES = r"[\\\"'`\u2018\u201c]{0,8}"
_BEGIN = re.compile(
    # Before them there is nothing, or no word of a sentence.
    rf"(?:^{_QUOTES}|[^\w\s\\\"'`\u2018\u2019\u201c\u201d] ?{_QUOTES}|\\[nrt]"
    r"|[0-9] |(?:error|exception|failed|request) )(?:(?:the|your|this) )?"
    r"(?:"
    # Anthropic, on its own API, Bedrock and Vertex: claude-code, bolt.new, exe.dev.
    r"prompt is too long"
    # Bedrock: bedrock-chat; and Baseten: llama_index.
    r"|input is too long\b"
    # z.ai, with the code 1261: zeroclaw 4124, hermes-agent 1877.
    r"|prompt exceeds max(?:imum)? length"
    r")",
    re.IGNORECASE | re.MULTILINE,
)
"""What other sentences may say too, or quote: it counts where a line or clause, or a value in it, begins."""

_OTHERS = re.compile(
    "|".join(
        (
            # Rate limits, which may speak of tokens and size: OpenAI ("on tokens per min (TPM)"): aider 1880;
            # Groq, with 413; Bedrock ("too many tokens, please wait"): claude-code 236; Azure, Gemini.
            r"rate.?limit",
            r"too many requests",
            r"tokens per (?:min|hour|day)",
            r"\b[tr]p[md]\b",
            r"throttl",
            r"wait before trying again",
            r"resource_exhausted",
            r"\bquota\b",
            # Images and documents: claude-code 4778, dify 11177.
            r"image (?:exceeds|dimensions|size|is too large|too large)",
            r"\bpdf (?:pages|is too large|too large)",
        )
    ),
    re.IGNORECASE,
)
"""What is no overflow, whatever else the words say."""

_RATE_STATUS = 429
_SIZE_STATUS = 413
_NO_ANSWERS = (TimeoutError, ConnectionError, KeyboardInterrupt, SystemExit)
"""Nothing was said of the prompt by whoever raises these, and they may come while an overflow is handled."""

_WINDOW = rf"maximum context length is (?P<limit>{_N}) tokens?"
_NUMBERS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?P<tokens>{_N}) tokens? > (?P<limit>{_N}) maximum",
        rf"exceed context limit: (?P<tokens>{_N}) \+ (?P<more>{_N}) > (?P<limit>{_N})",
        # Before what only says the prompt's own: these count the reply in.
        rf"{_WINDOW}[^0-9]{{1,40}}requested (?:about )?(?P<tokens>{_N}) tokens",
        rf"{_WINDOW}.{{1,200}}?for a total of (?:at least )?(?P<tokens>{_N})",
        rf"{_WINDOW}[^0-9]{{1,40}}resulted in (?P<tokens>{_N})",
        rf"\((?P<more>{_N}) > (?P<limit>{_N}) - (?P<tokens>{_N})\)",
        rf"configured limit of (?P<limit>{_N}) tokens?[^0-9]{{1,40}}resulted in (?P<tokens>{_N})",
        rf"input token count (?:is |\()(?P<tokens>{_N})\)?[^0-9]{{1,60}}(?P<limit>{_N})",
        rf"maximum number of tokens allowed \(?(?P<limit>{_N})",
        rf"prompt contains (?P<tokens>{_N}) tokens.{{1,80}}?model with (?P<limit>{_N}) maximum",
        rf"maximum prompt length is (?P<limit>{_N}) but the request contains (?P<tokens>{_N})",
        rf"current length is (?P<tokens>{_N}) while limit is (?P<limit>{_N})",
        rf"input \((?P<tokens>{_N}) tokens\).{{1,40}}?context length \((?P<limit>{_N}) tokens\)",
        rf"prompt token count of (?P<tokens>{_N}) exceeds the limit of (?P<limit>{_N})",
        rf"token limit: (?P<limit>{_N}) \(requested: (?P<tokens>{_N})",
        rf"length (?P<tokens>{_N})\).{{1,60}}?(?:model length of|context length) (?P<limit>{_N})",
        rf"input length \(?(?P<tokens>{_N})[^0-9]{{1,60}}(?P<limit>{_N})",
        rf"request (?P<tokens>{_N}) input tokens exceeds[^0-9]{{1,60}}(?P<limit>{_N})",
        rf"must be <= (?P<limit>{_N})\. given: (?P<tokens>{_N}) .inputs. tokens and (?P<more>{_N})",
        rf"requested tokens \((?P<tokens>{_N})\) exceed context window of (?P<limit>{_N})",
        rf"the first (?P<tokens>{_N}) tokens.{{1,120}}?context length of only (?P<limit>{_N})",
        rf"request \((?P<tokens>{_N}) tokens\).{{1,80}}?context size \((?P<limit>{_N}) tokens\)",
        rf"n_prompt_tokens\W{{1,5}}(?P<tokens>{_N})\W{{1,5}}n_ctx\W{{1,5}}(?P<limit>{_N})",
        rf"max input length is (?P<limit>{_N}) tokens[^0-9]{{1,40}}(?P<tokens>{_N})",
        rf"max input tokens: (?P<limit>{_N})[^0-9]{{1,60}}(?P<tokens>{_N})",
        rf"input length should be \[{_N}, ?(?P<limit>{_N})\]",
        rf"maximum context length(?: is| of)? \(?(?P<limit>{_N})",
    )
)


# --- What an error says ----------------------------------------------------------------------------

_ERRORS_MAX = 16
"""Of a chain."""
_VALUES_MAX = 200
_ATTRIBUTES_MAX = 1000
_DEPTH_MAX = 8
_HEAD_CHARACTERS = 16 << 10
_TAIL_CHARACTERS = 4 << 10
_CHARACTERS_MAX = 64 << 10
"""Of all texts of an error together."""

# Their own descriptors, which no class of exceptions can put others before.
_OF_EXCEPTIONS: Any = BaseException
_OF_GROUPS: Any = BaseExceptionGroup
_OF_CLASSES: Any = vars(type)

_STATUSES = frozenset({"code", "http_status", "httpstatuscode", "status", "status_code", "statuscode"})
_WORDS = frozenset({"code", "error_type", "errortype", "reason", "status", "type"})
_INSIDE = frozenset(
    {
        "_content",
        "body",
        "cause",
        "data",
        "detail",
        "details",
        "err",
        "error",
        "error_description",
        "errors",
        "innererror",
        "message",
        "metadata",
        "msg",
        "raw",
        "response",
        "responsemetadata",
    }
)
"""Names, in lower case, under which errors say what happened. A reply's own text has none of these."""
_COUNTS = frozenset({"n_ctx", "n_prompt_tokens"})
_NAMES = _STATUSES | _WORDS | _INSIDE | _COUNTS


@dataclass(slots=True)
class _Said:
    """What one error says of itself, whatever it is made of. texts: each on one line; lines: as they were."""

    texts: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    statuses: set[int] = field(default_factory=set)
    counts: dict[str, int] = field(default_factory=dict)
    room: int = _CHARACTERS_MAX
    left: int = _VALUES_MAX

    def add(self, text: str) -> None:
        """A text of any length, or of a type of its own."""
        if str.__len__(text) > _HEAD_CHARACTERS + _TAIL_CHARACTERS:
            head, tail = slice(_HEAD_CHARACTERS), slice(-_TAIL_CHARACTERS, None)
            text = f"{str.__getitem__(text, head)} … {str.__getitem__(text, tail)}"
        lines = "\n".join(" ".join(line.split()) for line in str.splitlines(text))[: self.room]
        self.room -= len(lines)
        self.lines.append(lines)
        self.texts.append(" ".join(lines.split()))

    def take(self, value: Any, depth: int = 0) -> None:
        """What a value says, and what it holds under the names that errors use."""
        self.left -= 1
        if depth > _DEPTH_MAX or self.left < 0:
            return
        kind = type(value)
        if issubclass(kind, str):
            self.add(value)
        elif issubclass(kind, bytes):
            self.add(_decoded(value))
        elif issubclass(kind, list | tuple):
            items = list.__iter__(value) if issubclass(kind, list) else tuple.__iter__(value)
            for item in islice(items, _DEPTH_MAX):
                self.take(item, depth + 1)
        elif not issubclass(kind, int | float | type(None)):
            if issubclass(kind, BaseException):
                self.add(_OF_CLASSES["__name__"].__get__(kind))
                self.take(_OF_EXCEPTIONS.args.__get__(value), depth + 1)
            for name, member in _members(value):
                self._take_member(name, member, depth)

    def _take_member(self, name: str, member: Any, depth: int) -> None:
        kind = type(member)
        if kind is int or (kind is not bool and issubclass(kind, int)):
            number = int.__index__(member)
            if name in _STATUSES:
                self.statuses.add(number)
            elif name in _COUNTS:
                self.counts[name] = number
        elif name in _INSIDE:
            self.take(member, depth + 1)
        elif name in _WORDS | _STATUSES and issubclass(kind, str):
            self.add(member)
            if self.texts[-1] in ("413", "429"):
                self.statuses.add(int(self.texts[-1]))


def _members(value: Any) -> Iterator[tuple[str, Any]]:
    """The members of a dict, or attributes of an object, that errors use; by lower-case name."""
    if issubclass(type(value), dict):
        for name, member in islice(dict.items(value), _VALUES_MAX):
            if type(name) is str and name.lower() in _NAMES:
                yield name.lower(), member
        return
    own: dict[str, Any] = {}
    of_classes: dict[str, Any] = {}
    for each in _OF_CLASSES["__mro__"].__get__(type(value)):
        for name, found in _used(_OF_CLASSES["__dict__"].__get__(each).items()):
            if name == "__dict__":
                kept: Any = _kept(found, value) if type(found) is GetSetDescriptorType else None
                own |= _used(dict.items(kept)) if issubclass(type(kept), dict) else ()
            else:
                of_classes.setdefault(name, found)
    of_classes |= own
    for name in sorted(_NAMES & of_classes.keys()):
        found = of_classes[name]
        found = _kept(found, value) if type(found) is MemberDescriptorType else found
        if found is not None:
            yield name, found


def _used(attributes: Iterable[tuple[Any, Any]]) -> Iterator[tuple[str, Any]]:
    """Those that errors use. Each name is looked at: to look one up would be to compare it with others, which
    may be texts of types of their own."""
    for name, found in islice(attributes, _ATTRIBUTES_MAX):
        if type(name) is str and (name in _NAMES or name == "__dict__"):
            yield name, found


def _kept(descriptor: Any, value: Any) -> Any:
    """What a slot of the value holds; None if it was never set, or is another class's."""
    try:
        return descriptor.__get__(value)
    except (AttributeError, TypeError):
        return None


def _decoded(data: bytes) -> str:
    head = bytes.__getitem__(data, slice(_HEAD_CHARACTERS))
    tail = bytes.__getitem__(data, slice(_HEAD_CHARACTERS, None))[-_TAIL_CHARACTERS:]
    return head.decode("utf-8", "replace") + tail.decode("utf-8", "replace")


def _chain(error: object) -> Iterator[_Said]:
    """What the error says, and then each error that it tells or hides. Each is seen once."""
    waiting = [error]
    seen: set[int] = set()
    while waiting and len(seen) < _ERRORS_MAX:
        each = waiting.pop(0)
        if id(each) in seen:
            continue
        seen.add(id(each))
        if issubclass(type(each), _NO_ANSWERS):
            continue
        said = _Said()
        said.take(each)
        yield said
        if issubclass(type(each), BaseException):
            waiting += _behind(each, is_answer=bool(said.statuses))


def _behind(error: Any, *, is_answer: bool) -> Iterator[BaseException]:
    """Its cause; else what was handled when it was raised, unless it is an API's answer itself."""
    if issubclass(type(error), BaseExceptionGroup):
        yield from _OF_GROUPS.exceptions.__get__(error)[:_ERRORS_MAX]
    cause = _OF_EXCEPTIONS.__cause__.__get__(error)
    if cause is not None:
        yield cause
    elif not is_answer and not _OF_EXCEPTIONS.__suppress_context__.__get__(error):
        context = _OF_EXCEPTIONS.__context__.__get__(error)
        if context is not None:
            yield context


def _verdict(said: _Said) -> bool | None:
    """Whether it is an overflow; None: it says nothing of that."""
    text = " ".join(said.texts)
    if _SURE.search(text):
        return True
    if _RATE_STATUS in said.statuses or _OTHERS.search(text):
        return False
    if _OVERFLOWS.search(text) or _SIZE_STATUS in said.statuses or any(map(_BEGIN.search, said.lines)):
        return True
    return None


def _numbers(said: _Said) -> Overflow:
    if said.counts:
        return Overflow(said.counts.get("n_prompt_tokens"), said.counts.get("n_ctx"))
    text = " ".join(said.texts)
    for pattern in _NUMBERS:
        found = pattern.search(text)
        if found is not None:
            named = {name: _number(value) for name, value in found.groupdict().items()}
            tokens = named.get("tokens")
            return Overflow(None if tokens is None else tokens + named.get("more", 0), named.get("limit"))
    return Overflow()


def _number(text: str) -> int:
    return int(text.replace(",", "").replace("_", ""))
