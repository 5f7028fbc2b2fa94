"""Cues: the words by which a clause of each kind is known, English and Chinese, as regular expressions.

English cues are looked for behind a character that is no part of a word, and those that begin with one letter
stand together, so that most words are passed over after one character.
"""

from __future__ import annotations

import re

__all__ = [
    "BREAK_BEHIND",
    "CLAUSE_END",
    "DATE_AHEAD",
    "DATE_ON",
    "ENGLISH",
    "HAN_CUE",
    "HAN_DATE_BEHIND",
    "HAN_FIRST",
    "HAN_PERIOD_BEHIND",
    "PERIOD_AHEAD",
    "PERIOD_BEHIND",
    "PROMISED",
]

ENGLISH = re.compile(
    r"[^a-z0-9_'./\\-](?:"
    r"a(?:part from|side from|s long as|ssuming|t the latest|gree[sd]? to|ll but)"
    r"|b(?:y|efore|efore(?:hand)|arring|anned|ut not)"
    r"|c(?:annot|onditions?(?: that| on)?|ontingent (?:on|upon)|ommit(?:s|ted|ments?)?(?: to)?|ut-?off)"
    r"|d(?:eadlines?|ue|isallowed|epending on)"
    r"|e(?:xcept(?:ions?|ing)?|xclu(?:d(?:e[sd]?|ing)|sions?)|xempt(?:ed|ions?)?|xpir(?:es?|y))"
    r"|forbid(?:s|den)?"
    r"|guarantee[sd]?"
    r"|i(?:f|n case|n the event|n advance|neligible)"
    r"|limit(?:ed to)?"
    r"|n(?:ever|o|ot|either|obody|othing|one of|otice|eeds?)"
    r"|o(?:n(?:ly|ce| condition| the condition| or before)|ther than)"
    r"|p(?:rovid(?:ed|ing)|rohibit(?:s|ed)?|romise[sd]?|ledge[sd]?|rior to|eriod|rerequisites?)"
    r"|re(?:quires?|stricted to)"
    r"|s(?:o long as|ubject to|ave for|hall)"
    r"|t(?:ill|hrough)"
    r"|u(?:nless|ntil|ndertakes?)"
    r"|w(?:hen(?:ever)?|ill|ith the exception|ithin|indow|arrants)"
    r")(?![a-z0-9])"
)
"""Against `lower`. The first character is not part of the cue."""

CLAUSE_END = re.compile(
    r"[.:!?](?=\s|\Z)|,(?!\d)|[;\n()\[\]{}\"|。，；！？：“”—]|\s[-–*]\s"
    r"|\s(?:but|and then|because|so that|so|while|whereas|which|then|otherwise|unless|except|if"
    r"|once (?:you|we|they|the|all|it|he|she|i)|when"
    r"|provided that"
    r"|and (?:must|may|should|can|will|is|are|the|it|we|they|you|no|do|does|did|approved))\b"
)
"""Where an English clause ends."""
BREAK_BEHIND = re.compile(
    r"[.:!?]\s|,(?!\d)|[;\n()\[\]{}\"|。，；！？：“”—]|\s[-–*]\s"
    r"|\s(?:but|because|that|which|while|whereas|though|if|when|then|and (?=(?:must|may|should|can|will"
    r"|is|are|do|does|did)\b))\s?"
)
"""What an English clause begins behind."""

_NUMBER = (
    r"(?:\d[\d,.]*|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fourteen|fifteen|twenty"
    r"|thirty|forty(?:-?five|-?eight)?|sixty|seventy-two|ninety|half an|several)"
)
_PERIOD = (
    r"(?:(?:business|working|calendar|full|consecutive|school|trading)[ -])?"
    r"(?:seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|weekdays?|fortnights?|months?|quarters?"
    r"|years?"
    r"|sprints?|(?<![a-z])[smhd])(?![a-z])"
)
_DAY = (
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)\b"
    r"|(?:january|february|march|april|june|july|august|september|october|november|december)"
    r"|today|tonight|tomorrow|noon|midnight|midday|eod|eow|cob|christmas|easter|new year)"
)
PERIOD_AHEAD = re.compile(
    rf"\s(?:the )?(?:(?:next|first|last|same|following|at most|about|around|roughly|approximately) )?"
    rf"(?:{_NUMBER}(?: ?\(\d+\))?[ -]?)?{_PERIOD}"
)
"""What makes `within` a deadline."""
DATE_AHEAD = re.compile(
    rf"\s(?:(?:the|this|next|on|at|about|around|early|late|mid-?|coming|following|same|last) ){{0,3}}"
    rf"(?:{_DAY}|(?:start|beginning|end|close|middle|morning|evening|afternoon)\b|\d{{4}}\b(?!,\d)"
    rf"|\d{{1,2}}(?::\d\d|(?:st|nd|rd|th)\b| ?[ap]\.?m\b| ?o'clock|/\d|\.\d{{1,2}}\.(?=\s|\d{{2,4}}\b))"
    rf"|\d{{1,2}} (?:of )?{_DAY}"
    rf"|(?:(?:working|business|school|calendar|trading) )?(?:year|month|week|quarter|day|sprint|q[1-4])\b)"
)
"""What makes `by` a deadline."""
DATE_ON = re.compile(
    rf"(?:,? (?:(?:of|the|at|on|around) ){{0,2}}(?:\d{{1,2}} ?[ap]\.?m\b|\d{{1,2}}:\d\d|\d{{4}}\b(?!,\d)"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?\b(?![:.]\d)|{_DAY}|utc|cet|gmt|(?:following|preceding|next|same"
    rf"|previous|current|each|every|this|last)"
    rf" (?:month|week|year|quarter|day)|(?:month|week|year|quarter|day)\b)|(?:st|nd|rd|th|\d|[:.]\d\d"
    rf"|-\d\d|/\d+|[a-z]+)){{0,6}}"
)
"""What else belongs to a date."""
PERIOD_BEHIND = re.compile(
    rf"(?<![a-z0-9])(?:(?:at least|no less than|not less than|no more than|at most|minimum(?: of)?|an?"
    rf"|the) )?"
    rf"{_NUMBER}(?: ?\(\d+\))?[ -]?{_PERIOD}'?s?'?(?: (?:advance|prior|written|grace|return|refund"
    rf"|review|time))*"
    rf"(?: or (?:more|less))?\s?\Z"
)
"""Of what stands before `notice`, `in advance`, `window`, `before`: what makes them a deadline."""

PROMISED = re.compile(
    r"(?:\s(?:also|always|then|each|both|all|only|gladly|promptly|immediately|automatically|not))*"
    r"(?:\s(?:be|get|have))?\s(refund|sen[dt]|deliver|pa(?:y|id)|reimburse|replace|repair|fix|provide"
    r"|notif(?:y|ied)"
    r"|inform|contact|publish|release|return|cover|credit|issue|offer|support|respond|repl(?:y|ied)"
    r"|review|follow"
    r"|call|e-?mail|writ|ship|update|compensate|waive|exten[dt]|complete|finish|submit|share|host"
    r"|present|prepare"
    r"|organi[sz]e|arrange|bring|brought|restore|migrate|deploy|announce|sign|open|hire|train|donate"
    r"|invest|launch"
    r"|handle|own|schedule|confirm|draft|investigate|escalate|process|answer|hold|held|give|honou?r|keep|kept"
    r"|maintain|add|remove|delete|lead|run|move|post|file|hand|meet|check in|circulate|report|roll"
    r"|back up|swap"
    r"|match|dispatch|collect|pick|install|test|build|buil[dt]|revisit|decide|backport|retire|freeze"
    r"|renew|serve"
    r"|receive|phone|visit|assist|help|accompan|guide|bear|teach|improve|monitor|fund|absorb|escort"
    r"|deduct|swap|repaint|stage|obtain|translate|distribute|supply|lend|mend|tidy|mow|water|courier|sponsor"
    r"|purchase|buy|reserve|remind|invite|set up|pass on|drop off|be back|reduce|raise|lower|freeze|match"
    r"|store|exchange|cancel|convert|transfer|upgrade|rotate|audit|plant|paint|clean|donate|match"
    r"|double|cap)"
)
"""What one promises to do, behind `will`."""

_HAN_EXCEPTION = (
    "(?<![删清移排解去消免拆根扣开切剔])除(?:外|非|了|(?![以数湿去尘]|法(?!定)))"
    "|例外|不包括|不包含|不含|不适用|豁免|不在此限|不在此列|不计入|另有约定"
)
_HAN_CONDITION = (
    "如果|要是|如(?=[未需有遇因您你无经果已逾超不在出])|(?:(?<=[\\s,;:!?，。；：！？])"
    '|\\A)如(?![下图何此同是上前今初期实一约])|(?:(?<=[\\s,;:!?，。；：、！？“"(（但而则,])'
    "|\\A)若(?!干)|倘若|假如|一旦|只要|只有|限于|前提(?![交出醒供升前])|情况下|情形下|条件(?=下|是|为"
    "|\\W{0,3}[:=：])|(?<=的)话(?![题语费剧])"
    "|(?<!不)仅(?:限|对|在|当|适用|供|向|允许|可|能|由|支持)|只(?:能|限|对|在|适用|允许|可)"
    "|满(?=[^,;:，。；\\n]{1,8}时)|凡是?(?![事人])|方可|才能|才可|须经|需经"
    "|未经(?=[^,;:，。；\\n]{1,12})|没有(?=[^,;:，。；\\n]{1,10}(?:批准|同意|许可|授权))"
    "|经(?=[^,;:，。；\n]{1,10}(?:批准|同意|审批|审核|授权|许可|签字|协商一致))"
    "|凭(?=[^,;:，。；\n]{0,10}[证票单码卡明函信])|当(?=[^,;:，。；\n]{1,16}时)|取决于"
    "|(?:需要?|须|应|必须)(?:[由经])(?=[^,;:，。；\n]{0,12}(?:批准|同意|审批|审核|授权|许可|签字))"
)
_HAN_DEADLINE = (
    "截止|截至|最迟|最晚|不晚于|不迟于|提前(?=\\s*(?:至少)?[\\d一二两三四五六七八九十])|(?<![国市室])内"
    "|前(?![往提端])"
    "|(?<=[\\d\u4e00-\u9fff])前(?=提[交出供])|为止|[时期]限|有效期|期至"
)
_HAN_NEGATION = (
    "禁止|严禁|禁用|谢绝|切勿|请勿|勿|无法|无需|无须|无权|没有|没(?![过收没有事])|未(?!来|必|知|满|成年)|并非|(?<!大)概不"
    "|不(?![变过仅但同断久少错管论满足超等良便幸止然如妨禁完到下住了起])|别(?=[把让给在去再])"
)
_HAN_PROMISE = (
    "承诺|保证(?![金书人])|答应(?!过)|我们会|我们将|我会|我将"
    "|将(?=[在于会为给由向免尽全继负提退通发安赔补支承协按代举推送派增配赠陪帮邀每报更开完修减返扩])|负责(?![人任的])"
    "|会(?=[在于为把按]|尽快|通知|安排|发|联系|退|提供)|确保"
)
HAN_FIRST = re.compile(
    "[凭满要除例不豁另如若倘假一只限前情条话仅凡方才须需未没经当取应必截至最提内为时有期禁严切请勿无并概别谢"
    "承保答我将负会确已]"
)
"""What every Chinese cue begins with."""
HAN_CUE = re.compile(
    f"(?P<exception>{_HAN_EXCEPTION})|(?P<condition>{_HAN_CONDITION})|(?P<deadline>{_HAN_DEADLINE})"
    f"|(?P<negation>{_HAN_NEGATION})|(?P<promise>{_HAN_PROMISE})"
    '|(?P<state>(?:(?<=[\\s,;:!，。；：！"“])|\\A)[已未](?=[^,;:，。；：\\s]{2,10}(?:在|可|须|应|不|需'
    "|能|将|均|才|方|按)))"
)
_HAN_NUMBER = r"[\d.一二两三四五六七八九十百半几]+"
_HAN_PERIOD = r"(?:秒|分钟|小时|个?工作日|个?自然日|天|日|周|个?星期|个?月|个?季度|年)"
HAN_PERIOD_BEHIND = re.compile(
    rf"(?:{_HAN_NUMBER}\s*(?:个\s*)?{_HAN_PERIOD}|[当本][天日周月季年])(?:之|以)?\Z"
)
"""Of what stands before 内: what makes it a deadline."""
_HAN_DAY = (
    r"(?:(?:\d{4}\s*年)?\s*(?:\d{1,2}\s*月)?\s*\d{1,2}\s*[日号]|(?:\d{4}-)?\d{1,2}-\d{1,2}"
    r"|[每本上下这]{0,2}(?:周|星期|礼拜)[一二三四五六日天末]|明天|今天|后天|当天|明日|今日|当日|每天|每日)"
)
_HAN_TIME = r"(?:\d{1,2}:\d\d|[\d一二三四五六七八九十]+\s*[点时]半?|下班|中午|午夜|凌晨|零点|晚上|上午|下午)"
HAN_DATE_BEHIND = re.compile(
    rf"(?:{_HAN_DAY}(?:\s*{_HAN_TIME}){{0,2}}|{_HAN_TIME}|\d{{4}}\s*年(?:底|末)?|\d{{1,2}}\s*月(?:底|末)?"
    r"|[本下]?[月季年周](?:底|末)|[\u4e00-\u9fff]{2}节)\s*(?:之|以)?\Z"
)
"""Of what stands before 前: what makes it a deadline."""
