"""Idle words: clauses that have a cue and yet say nothing that a summary should keep (we can't wait)."""

from __future__ import annotations

import re

__all__ = ["is_idle"]

_ENGLISH = re.compile(
    r"\b(?:no (?:secret|better|rush|hurry|two|place like|wonder|doubt|such luck|harm|stranger|shortage"
    r"|time to lose)"
    r"|(?:can't|cannot|could not|couldn't) (?:wait|be (?:prouder|happier|better|easier|simpler|more)"
    r"|go wrong|have|agree"
    r"|believe|thank|help|resist|imagine|complain|stress|emphasi[sz]e)"
    r"|(?:won't|will not|not|never) (?:regret|believe|be disappointed|look back|forget|disappoint"
    r"|get old|gets old|find a)"
    r"|not (?:a bad|every day|too|so bad|bad|alone|for nothing|surprising|as (?:bad|hard)"
    r"|the end of the world|easy"
    r"|always easy|long ago|unlike|unusual|uncommon|exactly)"
    r"|n't (?:too|so bad|bad|surprising|easy|always easy|everybody|everyone)"
    r"|never (?:gets?|felt|tasted|looked|lost (?:its|their|heart|sight)|been (?:better|easier|happier))"
    r"|nobody (?:likes|wants|minds|minded|complained|loves|knows)|nothing (?:beats|is (?:more|better|as"
    r"|quite)|like|ventured)"
    r"|do(?:es)? ?(?:not|n't) mean|if only|if all goes|as if|if you (?:ask|will|like)\b|if i may"
    r"|if anything|if ever"
    r"|before (?:you|we|they) (?:know|knew)|time will tell|fingers crossed|happy to|glad to|pleased to"
    r"|look forward|raise a glass"
    r"|will (?:love|enjoy|feel|soon|surely|never forget|miss|remember|be (?:happy|glad|pleased|proud"
    r"|delighted|fun|there for))"
    r"|smil\w+|cheer\w*|proud\w*|mood|joy\w*|delight\w*|cos(?:y|ier)|cozy|charm\w*|sunshine|dream\w*"
    r"|laugh\w*|lovely"
    r"|wonderful|beautiful\w*|heartfelt|friendly|when the time comes|in the right way|hesitate|worry"
    r"|hope (?:that|you|this|we)|once upon)\b"
)
_HAN = re.compile(
    "不知不觉|没有什么比|不要客气|不用客气|正如|一如既往|没想到|不得不|不得了|不只是|不只有|不仅|如果说"
    "|用心|担心|担忧|疑问|任何问题|不断|继续努力|更加努力|急不|认真"
    "|不一样|不着急|不急|不怕|不早了|绎不绝|绝口|释手|不停(?![机服电水车])|不可(?:没|少|或缺|思议|多得"
    "|避免|估量|磨灭)|不(?:禁|觉|愧|乏|息|灭|辞|畏|倦|虚此|胜|已|凡|俗|甘|绝|释"
    "|亦乐|约而|言而|屈|慌|忘|懈|疲|渝|朽|遗余|折不扣|计其数|解之缘|负众望|妨)|不由(?:得|自)|毫不|好不"
    "|心情|开心|快乐|美好|温馨|惬意|幸福|祝|(?<![志自])愿(?![意者])|辛苦|热情|欢笑|笑容"
    "|笑声|温暖|喜欢|漂亮|美丽|风景|陪伴|加油|感谢|敬请|期待|风雨无阻|不离不弃|难免|没话说|不见不散"
    "|没得说|抱怨|久等|不尽|多多包涵|努力"
)


def is_idle(words: str) -> bool:
    """Whether a clause, in lower case, only says something nice."""
    return _ENGLISH.search(words) is not None or (not words.isascii() and _HAN.search(words) is not None)
