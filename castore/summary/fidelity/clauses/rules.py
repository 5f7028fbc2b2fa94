"""Whether a negation is a rule or a limit: what must not be, may not be, or is not part of something.

Any other, such as what somebody did not do or does not know, is weak: no summary has to say it, but one that
says it without its `not` is wrong.
"""

from __future__ import annotations

import re

__all__ = ["is_english_rule", "is_han_rule"]

_STATES = (
    r"(?:allowed|permitted|accept(?:ed|able)|refund(?:ed|able)|cover(?:ed)?\b|covered|included|supported|valid"
    r"|eligible|responsible|liable|entitled|reimbursed|admitted|considered|recommended|advis(?:ed|able)"
    r"|intended|suitable|transfer(?:red|able|rable)|insured|tolerated|authori[sz]ed|returnable|returned"
    r"|exchange(?:d|able)|redeemable|binding|enforceable|guaranteed|reserved|subject to|part of|available"
    r"|possible|payable|deduct(?:ed|ible)|compatible|open to|meant|for (?:sale|resale|use|children)"
    r"|applicable|counted|deemed|repaired|replaced|compensated|paid|granted|issued|given|offered|sold"
    r"|shipped|delivered|shared|disclosed|charged|served|waterproof|certified|obliged|required to|bound"
    r"|stored|restored|resold|forwarded|carried|judged|processed|maintained"
    r"|graded|marked|scored|answered|registered|kept|taken back|to (?:be|exceed|use|enter)"
    r"|welcome in|accessible|safe (?:to|for|in)|a substitute|legal tender)(?![a-z])"
)
_DEEDS = (
    r"(?:apply|cover|include|accept|allow|permit|support|offer|qualify|count|guarantee|constitute|transfer"
    r"|entitle|ship|deliver|extend|refund|replace|reimburse|sell|share|store|collect|disclose|warrant"
    r"|compensate|charge|serve|provide|issue|grant|admit|recommend|contain|bind|waive|assume|tolerate"
    r"|insure|exchange|retain|handle|resell|rent|lend|process|exceed|release|limit|transmit|raise|increase"
    r"|cancel|close|hire|respond|take part|come with|carry over|return|have (?:permission|the right|access)"
    r"|delete|drop|overwrite)(?![a-z])"
)
_FELT = (
    r"(?:wait|help|imagine|believe|remember|recall|say|tell|afford|know|deny|blame|beat|resist|complain"
    r"|stress|agree|think|wonder|stand|bear|see|hear|feel|find|understand|forget|miss|worry|hesitate|panic"
    r"|despair|mind|regret|thank|explain|expect|hope|fear|sleep|stop (?:think|smil|laugh|talk)\w*"
    r"|promise|decide|predict|like|love|want|look|sound|seem|reali[sz]e|notice|need|be (?:afraid|surprised"
    r"|shy|cross|sad|angry|alarmed|fooled|discouraged|put off|scared|sorry|upset|disappointed|able|easy"
    r"|enough|too|so|a (?:problem|surprise)|long|the|as|that|perfect|obvious|denied|overstated"
    r"|underestimated|ignored|confused|happier|prouder|better|more|sure|certain|there)"
    r"|give up|get (?:me wrong|too|carried)|take (?:long|it|my word|this)|have"
    r"|let (?:(?:the|its?|your|a) )?(?:\w+ )?(?:name|price|looks?|size|fool|down|get to|deceive|put you)"
    r"|judge|underestimate|be\Z|come as|surprise|ask me|quote me|lose (?:heart|hope|sight))(?![a-z])"
)
_DEED = re.compile(rf"\s(?:\w+ly |also |yet |then |normally |otherwise )?{_DEEDS}")
_NEVER_DOES = re.compile(rf"\s{_DEEDS.removesuffix('(?![a-z])')}(?:s|es)?(?![a-z])")
_STATE = re.compile(rf"\s(?:be )?(?:\w+ly |also |yet |in any way |automatically |considered )?{_STATES}")
_PASSIVE_STATE = re.compile(rf"\s(?:be|get) (?:\w+ly )?{_STATES}")
_FEELING = re.compile(rf"\s(?:\w+ly |even |ever |quite |really |possibly |just |yet )?{_FELT}")
_PERSON = re.compile(r"(?:\A|\s)(?:i|he|she|they|nobody|someone|somebody|everyone|everybody|people|who)\s*\Z")
_SPEAKER = re.compile(r"(?:\A|\s)(?:we|it|this|that)\s*\Z")
_RELATIVE = re.compile(
    r"\b(?:who|whoever|which|that|whose|what|if|when|whether|because|since)\s(?:\w+\s){0,2}\Z"
)
_AUXILIARY = re.compile(
    r"(?:\A|[^a-z])(must|may|shall|should|ought|can|will|would|could|might|do|does|did|is|are|be|am|was|were"
    r"|has|have|had|'s|'re)\s*\Z"
)
_CONTRACTED = {
    "ca": "can",
    "wo": "will",
    "sha": "shall",
    "do": "do",
    "does": "does",
    "is": "is",
    "are": "are",
    "must": "must",
    "should": "should",
    "may": "may",
}
_OBLIGED = ("must", "may", "shall", "should", "ought")
_LED = re.compile(
    r"(?:\A|.*\b(?:please|and|but|or|then|so|also|otherwise|therefore|however|instead|always)\s|[^a-z]*"
    r"|(?:after|before|during|while|when|if|for|in|on|at|once|under|to|unless|until|from|with|above|below"
    r"|near|note|important|warning|caution)\b(?!.*\b(?:i|we|they|he|she|it|who|people|which|that)\b).*)\Z"
)
"""What may stand before an order: no subject."""
_ORDER = re.compile(
    r"\s(?!(?:again|before|once|did|had|was|were|has|have|is|are|been|mind|in|on|at|a|an|the|so|too|more|quite"
    r"|for|to|with|without|by|after|knew|saw|went|came|took|made|said|told|got|gave|found|left|felt|thought"
    r"|heard|wrote|spoke|met|ran|sat|stood|lost|kept|held|grew|fell|brought|bought|taught|caught|ate|drank"
    r"|slept|would|could|will|can|may|should|far|really|quite|not|ever|any|old|one|simply|just|even"
    r"|less|mattered|seems?|looks?|feels?|gets?|goes|comes|does|knows?|\w+ed|\w+ing)\b)[a-z]"
)
_HEAD = r"\s(?:(?:one|of|other|such|more|further|part|single|new|third)\s|[\w'-]+\s){0,5}?"
_BARRED = re.compile(
    rf"{_HEAD}(?:(?:may|must|shall|should) (?!have\b)|can (?:be|ever be|{_DEEDS}|enter|use|bring"
    rf"|take|leave|join|park|stay|open|work|vote|register|borrow|book|buy|attend|apply|access|act|sign"
    rf"|claim|opt|object|transfer|appeal)\b|(?:is|are|will be) (?:ever )?{_STATES})"
)
_NO_SUCH = re.compile(
    r"\s(?:\w+ )?(?:refunds?|returns?|exchanges?|smoking|parking|photography|entry|access|admission|liability"
    r"|responsibility|warrant(?:y|ies)|guarantees?|compensation|right (?:to|of)|obligation|claims?"
    r"|reimbursement|pets?|dogs?|swimming|diving|camping|fishing|drones?|open fires?|glass|bonfires?"
    r"|transfers?|substitut\w+|extensions?|exceptions?|discounts?|food|drinks?|alcohol|bicycles|visitors)\b"
)
_NONE = ("no", "nobody", "neither", "nor", "none of", "nothing")
_PROHIBITED = ("prohib", "forb", "ban", "disal", "inel")
_WAS = re.compile(r"\b(?:was|were|had|got|been|once|ever)\s\Z")
_BOUND_NOT_TO = re.compile(
    r"\b(?:agrees?|undertakes?|promises?|pledges?|commits?|required|obliged|asked|advised|requested"
    r"|instructed|reminded|careful|sure|remember|take care)\s\Z"
)


def is_english_rule(before: str, cue: str, ahead: str) -> bool:
    """before, ahead: of the clause what stands before and behind the cue; all in lower case."""
    if cue.startswith(_PROHIBITED):
        return _WAS.search(before[-6:]) is None
    if cue in _NONE:
        if cue == "no" and ahead.startswith(" longer"):
            return _is_rule(before, _auxiliary(before), ahead[7:])
        if cue == "no" and ahead.startswith(" one"):
            ahead = ahead[4:]
        return _BARRED.match(ahead) is not None or (
            cue == "no"
            and _NO_SUCH.match(ahead) is not None
            and _auxiliary(before) not in ("was", "were", "had")
        )
    if cue == "cannot":
        return _is_rule(before, "can", ahead)
    if cue.endswith("n't"):
        auxiliary = _CONTRACTED.get(cue[:-3])
        if auxiliary is None:
            return False
        return _is_rule(before, auxiliary, ahead) or (auxiliary == "do" and _is_order(before, ahead))
    auxiliary = _auxiliary(before)
    subject = before[: -len(auxiliary) - 1].rstrip() + " " if auxiliary else before
    if cue == "never":
        if auxiliary:
            return _is_rule(subject, auxiliary, ahead)
        if _NEVER_DOES.match(ahead) and _PERSON.search(before[-12:]) is None:
            return True
        return _ORDER.match(ahead) is not None and _is_order(before, ahead)
    if ahead.startswith(" to ") and (_BOUND_NOT_TO.search(before) or _is_not_to(auxiliary, ahead)):
        return True
    if auxiliary == "do" and _is_order(subject, ahead):
        return True
    return _is_rule(subject, auxiliary, ahead)


def _is_not_to(auxiliary: str, ahead: str) -> bool:
    return auxiliary in ("is", "are") and not ahead.startswith(
        (" to blame", " to be missed", " to say", " to know", " to mention", " to be taken lightly")
    )


def _auxiliary(before: str) -> str:
    found = _AUXILIARY.search(before[-9:])
    return "" if found is None else found[1]


def _is_order(before: str, ahead: str) -> bool:
    return _LED.match(before.lstrip()) is not None and _FEELING.match(ahead) is None


def _is_rule(subject: str, auxiliary: str, ahead: str) -> bool:
    """Whether a subject that must, can, does or is not is told a rule."""
    if auxiliary in _OBLIGED:
        return _FEELING.match(ahead) is None
    if _PERSON.search(subject[-12:]) or _RELATIVE.search(subject[-40:]):
        return False
    if auxiliary == "can":
        if _SPEAKER.search(subject[-6:]):
            return _DEED.match(ahead) is not None or _PASSIVE_STATE.match(ahead) is not None
        return _FEELING.match(ahead) is None
    if auxiliary == "will":
        return _PASSIVE_STATE.match(ahead) is not None or _DEED.match(ahead) is not None
    if auxiliary in ("do", "does"):
        return _DEED.match(ahead) is not None
    if auxiliary in ("is", "are", "'s", "'re", "be", ""):
        return _STATE.match(ahead) is not None
    return False


_HAN_ALWAYS = re.compile(
    "禁止|严禁|禁用|谢绝|无权|概不|(?:切勿|请勿|勿)(?!忘|念|怪|见怪|担心|错过|挂念|惊慌)"
    "|不得(?!不|了|已|而知|其解|要领|劲|空|闲|人心|志|安宁)|不[准许]|不予|不宜|不允许|不建议|不推荐"
    "|不可(?!能|思议|避免|开交|收拾|同日|一世|告人|多得|或缺|缺少|磨灭|估量)|不应(?!期|有尽有)"
)
_HAN_OFTEN = re.compile(
    "不能(?!不|忘|自已|自拔|理解|想象|说|否认|怪|原谅|没有|再好|算|代表|陪|亲自|放弃|认输)"
    "|不要(?!错过|忘|担心|紧|客气|着急|害怕|怕|灰心|放弃|难过|介意|误会|奇怪|小看|以为|见怪|脸|觉得|因为|说"
    "|钱|命|急|慌|气馁|犹豫|相信|问|被)"
    "|不(?:再)?(?:含|包含|包括|包[邮修食住退换]|支持|适用|退|换|受理|承担|提供|接受|接待|享受|参与|参加|收取|收费|收|计入|计"
    "|负责|保证|保修|办理|开放|开具|赔|补[发偿贴办]|发[放货送结]|派送|配送|配备|设|兼容|承诺|另行|记名|挂失|对外|属于"
    "|列入|纳入|视为|构成|授予|转让|具有|具备|外借|外传|受此限|营业|代[办收领购]|招[新收]?|打折|找零|延期|合入"
    "|出售|出租|统一|安排|预留|保留|入住|收集|共享|公开|披露|上调|涨|派发|由[^,，。]{1,8}(?:承担|负责|支付))"
    "|不再(?:维护|更新|销售|生产|供应|追加|放行|安排|接单)|不与[^,，。]{1,12}(?:叠加|同享|同用|混用|共享)|不送[上货餐]"
    "|不会(?:向|将您|把您|对外|收集|保存|存储|记录|出售|另行|额外|收取|退|补发)|不对[^,，。]{1,10}(?:负责|开放)"
    "|不在[^,，。;；]{0,14}(?:范围|之列|之内|内|列)|不算(?=在|入|作|工|加|数)|别(?=[把让给在再])"
)
_HAN_STORY = re.compile(
    "(?:我|他|她|咱|谁|妈|爸|爷|奶|外公|外婆|舅|姑|叔|婶|哥|姐|弟|妹|老伴|孩子们|人人)(?![方司院行校馆部社店方们人])"
    "|(?:他们|她们|咱们)|从来?\\Z|一向\\Z|向来\\Z|怎么[也都]?\\Z|再也\\Z|什么[也都]\\Z|希望|但愿|并\\Z|[还尚]\\Z|暂时\\Z|何不|说\\Z"
)
_HAN_BARE = re.compile("(?:禁止|严禁|不得|不能|不可|不许|不准|请勿)(?:突破|超出|超过|逾越|例外)\\Z")
_HAN_ELSE = re.compile("(?:否则|不然)(?:一律|均|都|就)?\\Z")
_HAN_ELSE_MAX = 5
"""Characters of what is otherwise forbidden, less than which do not say what that is."""
_HAN_IDIOM = re.compile("[恨舍巴怪由见顾来说记认等懂晓免值使动少]\\Z")
_HAN_GUESS = re.compile("[说拿看算对]\\Z")


def is_han_rule(before: str, words: str) -> bool:
    """before: of the clause, what stands before the cue; words: what begins with it."""
    if words.startswith("不得") and _HAN_IDIOM.search(before):
        return False
    if words.startswith("不准") and _HAN_GUESS.search(before):
        return False
    if words.startswith("不可") and "非" in before:
        return False
    if _HAN_BARE.match(words) or (_HAN_ELSE.search(before) and len(words) < _HAN_ELSE_MAX):
        # Which limit must not be passed, the clause before it says.
        return False
    if _HAN_ALWAYS.match(words):
        return True
    return _HAN_OFTEN.match(words) is not None and _HAN_STORY.search(before) is None
