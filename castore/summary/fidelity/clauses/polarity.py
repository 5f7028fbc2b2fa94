"""Polarity: whether words in lower case say yes or no, more or less, and only or also."""

from __future__ import annotations

import re

from castore.summary.fidelity.clauses.concepts import english_concepts
from castore.summary.fidelity.terms import stem

__all__ = [
    "after_if",
    "bound",
    "denies",
    "direction",
    "excepts",
    "frees",
    "has_cue",
    "has_lack",
    "has_only_lack",
    "is_including",
    "is_later",
    "is_led_by_if",
    "is_only_then",
    "is_twofold",
    "is_weakly_negated",
    "leaves_out",
    "needs",
    "negations",
    "permits",
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
    r"|forfeit\w*|le(?:ft|aves?|aving) out|barring|save for|rul(?:es?|ed|ing)(?: \w+)? out"
    r"|out of the question|taboo"
    r"|refus\w+|reject\w*|den(?:y|ied|ies)|declin\w+|fail\w*|lack\w*|miss\w*|stop\w*|avoid\w*|only|until"
    r"|before|free(?! to\b)"
    r"|waiv\w+|invalid|void|impossible|illegal|laps\w+|expir\w+|los[et]\w*|drop\w*|remov\w+|disabl\w+"
    r"|prevent\w*"
    r"|block\w*|instead|rather|unable|keep|keeps|kept|stay\w*|remain\w*|otherwise|restrict\w*|limit\w*"
    r"|barred"
    r"|off[- ]limits|off|pending|absent|abstain\w*|with(?:held|hold)|end(?:s|ed)?|ceas\w+|discontinu\w+"
    r"|gone|any ?more"
    r"|the (?:one|only|sole)|at your own|at (?:the|their|his"
    r"|her) \w+'s expense"
    r"|yourself|themselves|extra|separately|additional(?:ly)?|surcharge"
    r"|at most|maximum|up to|alone|intact|closed|shut|skip\w*|veto\w*|against"
    r"|dismiss\w*|postpon\w+"
    r"|defer\w*|halt\w*"
    r"|spared?|safe|protect\w*|forgo\w*|refrain\w*|abandon\w*|cancel\w*|revok\w+|suspend\w*|secret"
    r"|confidential"
    r"|un[a-z]{4,}|non-?\w+|im(?:possible|proper)|in(?:complete|correct|valid|accessible"
    r"|sufficient)\w*)\b|n't\b"
    r"|才(?!华|艺)|等到|等[^，。]{1,9}再|了再|另[算付计租收购需]|自理|不(?!变)|没|無|无|未|非|禁|勿|除外|除非|(?<![删清移排解去消免拆扣])除了"
    r"|(?<![删清移排解去消免拆扣])除[^，。]{1,20}外|别|免|拒|只|仅|例外"
    r"|否|缺|停[止用]|取消|移除|删[除去]|下线|弃用|废[弃除]|作废|最多|上限|至多|以内|避免|防止|杜绝|谢绝|保密|暂缓|尚待|失败|照旧|原样"
)
"""All that may say that something is not so, or only so."""
_NEGATION = re.compile(
    r"\b(?:not|no(?! (?:later|more|less|fewer|longer than))|never|cannot|neither|nor|none|without)\b"
    r"|n't\b|\bnobody\b|\bun[a-z]{5,}|\bnon-?[a-z]{4,}|不(?!同|仅|断|良)|没|未(?!来)|无(?!论)"
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
    r"|beyond)\b|超过|大于|高于|多于|以上|超出|上[浮调涨]"
)
_DOWN = re.compile(
    r"\b(?:less|under|below|fewer|lower|younger|lighter|colder|shorter|smaller)\b|少于|低于|小于|以下"
    r"|下[浮调跌]|不足|不满|未满|不到|不超过"
)
_EXCEPTS = re.compile(
    r"\b(?:except\w*|unless|exclu\w+|exempt\w*|apart from|aside|other than|but not|not)\b|除外|除非"
    r"|(?<![删清移排解去消免拆扣])除了|例外|不包括|不含|不在"
)
_WAITS = re.compile(r"\b(?:before|until|till|unless|without|prior)\b|之前|前|未经|没有")
_ONLY_THEN = re.compile(
    r"\b(?:after|once|only|waits?|waiting|first|has to wait|until)\b|之后|才(?!华|艺)|等到|只有|先"
    r"|等[^，。]{1,9}再|了再"
)
_WEAKLY = re.compile(
    r"\b(?:fail\w*|lack\w*|refus\w+|den(?:y|ied|ies)|without|unable|un[a-z]{4,}|miss\w*)\b|失败|缺|拒"
)
"""What denies without a `not`."""
_RESTRICTS = re.compile(
    r"\b(?:need(?:s|ed)?|takes?|waits?|requir\w+|must|only|with|subject|has to|have to|if|or|otherwise)\b"
    r"|须|需|只|仅|经|才|照常|仍|则|得先|先得"
)
_NEEDS = re.compile(
    r"\b(?:need(?:s|ed)?|requir\w+|must|only|subject to|has to|have to|takes?|permission|approval|consent)\b"
    r"|须|需|只|仅|(?<!未)经|才|先|得先|先得|要[^，。；]{0,8}(?:许可|同意|批准|审批|授权|签字)"
)
_ONLY = re.compile(
    r"\b(?:only|just|solely|exclusively|limited|restricted|must|needs?|requir\w+|if|unless|no|not|nobody"
    r"|none|never|cannot|who|those|whoever"
    r"|once|after|until|to get|reserved|permission|consent|approval|for|with|when|where|provided|to|wait)\b"
    r"|n't\b|仅|只|限|须|必须"
    r"|要|才|不|禁|非|无|未|方可|专|许可|同意|批准|都(?=在|是|由)"
)
_LATER = re.compile(
    r"\b(?:after|since|from|no earlier than|not before|starting|following)\s*\Z|从\s*\Z|自\s*\Z"
)


_CUES = {
    "deadline": re.compile(
        r"\b(?:before\w*|until|till|by|prior|ahead|within|deadline\w*|latest|last|when|once|after|first|then|advance|due"
        r"|clos\w+|expir\w+|while|only|end\w*|still|yet|remain\w*|on|in time)\b"
        r"|前|截止|期限|期|内|为止|直到|才|先|再|后|止|未|没|还|时"
    ),
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


_DENIES = re.compile("un|non|in|im|ban|forb|prohib|refus|reject|remain|stay|keep|kept|only|until|before")
"""What denies whatever stands there, even a word that means the same."""


def _is_said(word: str, said: frozenset[str]) -> bool:
    if len(word) < 2 or not said:
        return False
    stemmed = stem(word)
    return stemmed in said or (
        not _DENIES.match(word) and not said.isdisjoint(english_concepts(word, stemmed))
    )


def excepts(words: str) -> bool:
    """Whether it says what something is not for."""
    return _EXCEPTS.search(words) is not None


_FREES = re.compile(
    r"\b(?:as long as|so long as|provided|providing|if|when)\b[^,.;]{0,20}?"
    r"\b(?:nobody|no one|none|no other|nothing)\b"
)


def frees(words: str) -> bool:
    """Whether it says that something is so where nobody stands in its way."""
    return _FREES.search(words) is not None


def waits(words: str) -> bool:
    """Whether it says before what something is not."""
    return _WAITS.search(words) is not None


def is_only_then(words: str) -> bool:
    """Whether it says after what something is."""
    return _ONLY_THEN.search(words) is not None


def restricts(words: str) -> bool:
    """Whether it asks for something."""
    return _RESTRICTS.search(words) is not None


_LEAVES_OUT = re.compile(
    r"\b(?:unless|except|without|until|but only)\b|除非|除外|未经|才"
    r"|[没未][有得][^,，]{1,12}(?:批准|同意|许可|授权)"
)


def leaves_out(words: str) -> bool:
    """Whether it says without what something is not so."""
    return _LEAVES_OUT.search(words) is not None


def needs(words: str) -> bool:
    """Whether it says that something must be there first."""
    return _NEEDS.search(words) is not None


def says_only(words: str) -> bool:
    return _ONLY.search(words) is not None


def denies(words: str) -> bool:
    """Whether it says that something is not so, in any strength."""
    return negations(words) > 0 or is_weakly_negated(words)


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


_MORE = (
    r"(?:exceed\w*|(?:be |go |last |weigh |take |use |stay |run |drive |fly )?(?:\w+ ){0,2}(?:more"
    r"|longer|higher|later|older"
    r"|heavier|larger|greater|faster) than|(?:go |be |rise |run )?(?:over|above|beyond|past))"
)
_LESS = (
    r"(?:(?:\w+ ){0,3}(?:less|fewer|shorter|lower|earlier|younger|smaller) than|(?:\w+ ){0,2}(?:under"
    r"|below))"
)
_NOT = r"(?:not|never|cannot|no|nobody|none|n't)\b[^,.;]{0,40}?\b"
_NOT_HAN = r"(?:不得|不能|不可以?|不准|不许|不要|不应当?|不会|不允许|不宜|切勿|请勿|勿|禁止|严禁|不)"
_AT_MOST = re.compile(
    rf"{_NOT}{_MORE}|\b(?:at most|at the most|no more than|no longer than|no later than|not more than"
    rf"|maximum|max|up to"
    r"|as (?:much|many|long) as \d|limit(?:s|ed)? (?:is|of|to)|capped|cap|the most|ceiling|tops?)\b"
    rf"|{_NOT_HAN}[^，。；]{{0,4}}?(?:超过|大于|高于|多于|超出|长于|晚于|重于|超)|最多|最高|最大|最长|最晚|上限|至多|顶多|以内|之内"
    r"|为限|封顶|限\d|限于"
)
_AT_LEAST = re.compile(
    rf"{_NOT}{_LESS}|\b(?:at least|at the least|minimum|min|no less than|no fewer than|not less than"
    rf"|or more|upwards of"
    r"|from \d+ up|floor)\b"
    rf"|{_NOT_HAN}[^，。；]{{0,4}}?(?:少于|低于|小于|短于|早于)|至少|最少|最低|最短|最早|起码|下限|以上|起步"
)


_PERMITS = re.compile(
    r"\b(?:may|can|could|allow(?:s|ed)?|permit(?:s|ted)?|fine|ok|okay|free to|welcome|possible|lets?"
    r"|go ahead)\b"
    r"|可以|允许|能(?!源|力|量|耗)|准许|欢迎|随意|[均都也即]可(?!能)|可(?=[进拆带使转加])"
)
_TWOFOLD = re.compile(
    r"\bwithout\b|\b(?:who|that|which) (?:do|does|did|have|has|are|is)(?: not|n't)\b|\buntil\b"
    r"|\bun[a-z]{5,}"
    r"|未|没有|无(?!法|需)|之前|前(?=不|禁|严禁|勿|切勿)"
)


def permits(words: str) -> bool:
    """Whether it says that something is allowed."""
    return _PERMITS.search(words) is not None


def has_lack(words: str) -> bool:
    """Whether it says that something is missing or not yet so."""
    return _TWOFOLD.search(words) is not None


def has_only_lack(words: str) -> bool:
    """Whether that is all that it denies."""
    return has_lack(words) and not says_no(_TWOFOLD.sub(" ", words))


def is_twofold(words: str) -> bool:
    """Whether a negation says what must not be without something: that it must be with it."""
    return _TWOFOLD.search(words) is not None and says_no(_TWOFOLD.sub(" ", words))


def bound(words: str) -> int:
    """1: it says the most that is allowed; -1: the least; 0: neither or both."""
    return bool(_AT_MOST.search(words)) - bool(_AT_LEAST.search(words))


def is_later(before: str) -> bool:
    """Whether what stands right before a date makes it the earliest, not the latest."""
    return _LATER.search(before) is not None
