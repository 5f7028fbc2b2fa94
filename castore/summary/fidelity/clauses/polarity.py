"""Polarity: whether words in lower case say yes or no, more or less, and only or also."""

from __future__ import annotations

import re

from castore.summary.fidelity.clauses.concepts import english_concepts
from castore.summary.fidelity.terms import stem

__all__ = [
    "after_if",
    "direction",
    "excepts",
    "has_cue",
    "is_including",
    "is_later",
    "is_led_by_if",
    "is_only_then",
    "is_weakly_negated",
    "negations",
    "says_no",
    "takes_back",
    "waits",
]

_NO = re.compile(
    r"\b(?:not|no|never|cannot|neither|nor|none|nobody|nothing|nowhere|without|zero|nil|few|little"
    r"|hardly|rarely"
    r"|forbid\w*|forbade|prohibit\w*|bann\w+|ban|bans|disallow\w*|ineligible|exclu\w+|except\w*|unless"
    r"|exempt\w*"
    r"|apart from|aside|other than|but for|all (?:\w+ )?but|(?:any|every)\w*(?: \w+)? but|omit\w*|beyond"
    r"|forfeit\w*|le(?:ft|aves?|aving) out|barring|save for|ruled? out|out of the question|taboo"
    r"|refus\w+|reject\w*|den(?:y|ied|ies)|declin\w+|fail\w*|lack\w*|miss\w*|stop\w*|avoid\w*|only|until"
    r"|before|free(?! to\b)"
    r"|waiv\w+|invalid|void|impossible|illegal|laps\w+|expir\w+|los[et]\w*|drop\w*|remov\w+|disabl\w+"
    r"|prevent\w*"
    r"|block\w*|instead|rather|unable|keep|keeps|kept|stay\w*|remain\w*|otherwise|restrict\w*|limit\w*|barred"
    r"|off[- ]limits|off|pending|absent|abstain\w*|with(?:held|hold)|end(?:s|ed)?|ceas\w+|discontinu\w+"
    r"|gone|any ?more"
    r"|at most|maximum|up to|alone|intact|closed|shut|skip\w*|veto\w*|against|dismiss\w*|postpon\w+"
    r"|defer\w*|halt\w*"
    r"|spared?|safe|protect\w*|forgo\w*|refrain\w*|abandon\w*|cancel\w*|revok\w+|suspend\w*|secret"
    r"|confidential"
    r"|un[a-z]{4,}|non-?\w+|im(?:possible|proper)|in(?:complete|correct|valid|accessible"
    r"|sufficient)\w*)\b|n't\b"
    r"|才(?!华|艺)|等到|不(?!变)|没|無|无|未|非|禁|勿|除外|除非|(?<![删清移排解去消免拆扣])除了"
    r"|(?<![删清移排解去消免拆扣])除[^，。]{1,20}外|别|免|拒|只|仅|例外"
    r"|否|缺|停止|取消|作废|最多|上限|至多|以内|避免|防止|杜绝|谢绝|保密|暂缓|尚待|失败|照旧|原样"
)
"""All that may say that something is not so, or only so."""
_NEGATION = re.compile(
    r"\b(?:not|no(?! (?:later|more|less|fewer|longer than))|never|cannot|neither|nor|none|without)\b"
    r"|n't\b|\bun[a-z]{5,}|不(?!同|仅|断|良)|没|未(?!来)|无(?!论)"
)
_POSITIVE = re.compile(
    r"\b(?:may|can|will|is|are|was|were|must|should|has|have|had|does|did|do|too|also|approved"
    r"|allowed)\b|也|可以|允许|同意|都|仍可|要|会"
)
_INCLUDING = re.compile(
    r"\bincluding\b|\beven (?:if|for|when)\b|\bas well\b|\btoo\b|\balso\b|包括|包含|也|含|即使|在内|同样"
)
_IF = re.compile(r"\b(?:if|when|whenever|provided|as long as|once)\b|如果|若|只要|当|一旦")
_UP = re.compile(
    r"\b(?:more|over|above|exceed\w*|greater|higher|older|heavier|hotter|longer|larger|or later"
    r"|beyond)\b|超过|大于|高于|多于|以上|超出"
)
_DOWN = re.compile(
    r"\b(?:less|under|below|fewer|lower|younger|lighter|colder|shorter|smaller)\b|少于|低于|小于|以下"
    r"|不足|不满|未满|不到|不超过"
)
_EXCEPTS = re.compile(
    r"\b(?:except\w*|unless|exclu\w+|exempt\w*|apart from|aside|other than|but not|not)\b|除外|除非"
    r"|(?<![删清移排解去消免拆扣])除了|例外|不包括|不含|不在"
)
_WAITS = re.compile(r"\b(?:before|until|till|unless|without|prior)\b|之前|前|未经|没有")
_ONLY_THEN = re.compile(
    r"\b(?:after|once|only|waits?|waiting|first|has to wait|until)\b|之后|才(?!华|艺)|等到|只有|先"
)
_WEAKLY = re.compile(
    r"\b(?:fail\w*|lack\w*|refus\w+|den(?:y|ied|ies)|without|unable|un[a-z]{4,}|miss\w*)\b|失败|缺|拒"
)
"""What denies without a `not`."""
_RESTRICTS = re.compile(
    r"\b(?:needs?|takes?|waits?|requir\w+|must|only|with|subject|has to|have to|if|or|otherwise)\b|须|需"
    r"|只|仅|经|才|照常|仍|则"
)
_ONLY = re.compile(
    r"\b(?:only|just|solely|exclusively|limited|restricted|must|needs?|requir\w+|if|unless|no|not|nobody"
    r"|none|never|cannot|who|those|whoever"
    r"|once|after|until|to get|reserved|for|with|when|where|provided|to|wait)\b|n't\b|仅|只|限|须|必须"
    r"|要|才|不|禁|非|无|未|方可|专"
)
_LATER = re.compile(
    r"\b(?:after|since|from|no earlier than|not before|starting|following)\s*\Z|从\s*\Z|自\s*\Z"
)


_CUES = {
    "negation": _NEGATION,
    "promise": re.compile(
        r"\b(?:will|shall|promis\w+|guarant\w+|commit\w*|pledg\w+|going to|agree\w*)\b|'ll\b|会|将|承诺"
        r"|保证|负责"
    ),
    "condition": re.compile(
        r"\b(?:if|when|whenever|only|unless|provided|once|as long as|in case|should|after|until|before"
        r"|requir\w+|needs?|must"
        r"|subject|depend\w*|condition\w*|limited|assuming|where|with|without|for)\b|如|若|只|仅|前提|须"
        r"|需|经|当|凡|一旦|的话|限|才|时"
    ),
}


def has_cue(kind: str, words: str) -> bool:
    """Whether a clause of this kind could stand there."""
    cues = _CUES.get(kind)
    return cues is not None and cues.search(words) is not None


def says_no(words: str, said: frozenset[str] = frozenset()) -> bool:
    """Whether anything in it may deny or restrict, but for words whose stem is in `said`: what is denied."""
    return any(not _is_said(match[0], said) for match in _NO.finditer(words))


def _is_said(word: str, said: frozenset[str]) -> bool:
    if len(word) < 2 or not said:
        return False
    stemmed = stem(word)
    return stemmed in said or not said.isdisjoint(english_concepts(word, stemmed))


def excepts(words: str) -> bool:
    """Whether it says what something is not for."""
    return _EXCEPTS.search(words) is not None


def waits(words: str) -> bool:
    """Whether it says before what something is not."""
    return _WAITS.search(words) is not None


def is_only_then(words: str) -> bool:
    """Whether it says after what something is."""
    return _ONLY_THEN.search(words) is not None


def restricts(words: str) -> bool:
    """Whether it asks for something."""
    return _RESTRICTS.search(words) is not None


def says_only(words: str) -> bool:
    return _ONLY.search(words) is not None


def negations(words: str) -> int:
    return sum(1 for _ in _NEGATION.finditer(words))


def is_weakly_negated(words: str) -> bool:
    return _WEAKLY.search(words) is not None


def takes_back(words: str) -> bool:
    """Whether it has a verb of its own that says yes, so that a `not` before it does not reach it."""
    return _POSITIVE.search(words) is not None


def is_including(words: str) -> bool:
    return _INCLUDING.search(words) is not None


def after_if(words: str) -> str:
    """What stands behind an `if`, `when` or `provided`; nothing where there is none."""
    found = _IF.search(words)
    return words[found.end() :] if found else ""


def is_led_by_if(words: str) -> bool:
    return _IF.search(words) is not None


def direction(words: str) -> int:
    """1: more than; -1: less than; 0: neither or both."""
    return bool(_UP.search(words)) - bool(_DOWN.search(words))


def is_later(before: str) -> bool:
    """Whether what stands right before a date makes it the earliest, not the latest."""
    return _LATER.search(before) is not None
