"""Whether a condition belongs to a rule: to what somebody must, may or has to do, or gets or pays.

Any other is weak: a sentence that says how things are, or something nice (it gets busy when the sun shines).
No summary has to say it; but one that keeps the rest of its sentence and drops it says another thing.
"""

from __future__ import annotations

import re

__all__ = ["is_english_ruling", "is_han_ruling"]

_STRICT = (
    "only", "provided", "providing", "subject", "limited", "restricted", "require", "requires", "need",
    "needs", "contingent", "conditional", "on condition", "on the condition", "condition that",
    "in the event",
)  # fmt: skip
"""The cues of which each makes a rule by itself."""
_RULING_WORDS = """
must may shall should cannot can't mustn't shouldn't needn't required requires require need needs needed
obliged compulsory mandatory optional entitled eligible ineligible qualify qualifies allowed permitted
permission accepted admitted authorised authorized forbidden prohibited banned barred refused rejected valid
invalid void voids apply applies applied cover covers covered coverage includes included excluded refund
refunds refunded refundable reimbursed reimburse reimburses compensation compensate compensated credited
credit credits replaced replace replacement repaired repair exchanged exchange cancel cancelled canceled
cancels cancellation postponed postpone delayed terminate terminates terminated termination suspend suspends
suspended expire expires expired lapse lapses forfeit forfeits forfeited charge charges charged fee fees
fine fined penalty penalties surcharge supplement deposit pay pays paid payable payment unpaid owe owes
price discount discounts bonus grant grants granted liable liability responsible responsibility warranty
guarantee guaranteed insurance insured claim claims approval approve approved approves consent confirm
confirms confirmed reject rejects returns returned restart restarts retry retries fails fail error errors
crash crashes exit exits aborts abort stops deleted removed disabled enabled blocked locked rolled server
client request requests response returned flag option default contact notify notified inform informed
report reported file submit submitted register registered transferred transfer resold shared sold ship
shipped deliver delivered delivery send sends sent collected collect extended extend renewed renew renews
withdraw withdrawn revoked revoke free dose doctor nurse physician pharmacist emergency
two three four five six seven eight nine ten eleven twelve fifteen twenty thirty percent
contract tenant landlord supplier licensee licensor customer customers buyer seller employee employees
applicant applicants candidate candidates borrower welcome moves moved meet meets held indoors inside decides
decide wins killed ends starts plug unplugged void postponement
"""
_RULING = frozenset(_RULING_WORDS.split())
_WORD = re.compile(r"[a-z']+|[\d`$€£%]")
_ORDER_WORDS = """
add adjust apply ask book bring call cancel carry change check choose clean click close collect come
complete connect consult contact continue cool cover cut delete dial disconnect discard do don't drain drop
email e-mail ensure enter evacuate exit fasten fill follow get give go hand hold immerse inform insert install
keep leave let lift loosen lower mail make mix move never notify open order park pause phone place please pour
press pull push put raise rebase reboot refill remove repeat replace reply report request reset restart
restore retry return rinse roll rotate run save scan see select send set sign skip speak start stay stir stop
store submit switch take tell test text tighten transfer try turn unplug update upgrade use visit wait
wash wear wipe withdraw write refuse reject rest
"""
_ORDER = frozenset(_ORDER_WORDS.split())
_BEFORE_ORDER = frozenset(("please", "then", "just", "always", "also", "immediately", "and", "simply"))
_FRIENDLY = re.compile(
    r"\b(?:forget to|say (?:hello|hi)|bite|love[sd]?|hearts?|enjoy\w*|smil\w+|happy|glad|proud|nervous|lovely"
    r"|feels?|understand|wonder\w*|laugh\w*|miracle|worry|hesitate|shy|welcome to|beautiful|warm(?:s|th)"
    r"|should be (?:easy|fun|simple|fine|fair)|easier"
    r"|pleas(?:ant|ure)|memor(?:y|ies)|friends?|patience|luck\w*|dreams?|soul|magic\w*|cheer\w*"
    r"|you will (?:know|see|like|find|notice)|you know|patient with|thank\w*|grateful)\b"
)


def is_english_ruling(cue: str, words: str, around: str) -> bool:
    """words: the condition; around: what its sentence says beside it; all in lower case."""
    if cue.startswith(_STRICT):
        return True
    main = _WORD.findall(around)
    if not _VALUES.isdisjoint(main) or _VALUE.search(words):
        return True
    if _FRIENDLY.search(around):
        return False
    return not _RULING.isdisjoint(main) or _is_order(around) or _IS_DONE.search(around) is not None


_VALUES = frozenset("0123456789`$€£%")
_VALUE = re.compile(
    r"[\d`$€£%]|\w_\w|\b(?:agree[sd]?|approve[sd]?|confirm(?:s|ed)?|consents?|signed|accept(?:s|ed)?|breach\w*)\b"
)
"""What makes a rule wherever it stands: a value, or that somebody has to say yes."""
_IS_DONE = re.compile(
    r"\bcan (?!be\b|feel|see|hear|smell|taste|imagine|tell|believe|say|seem|look|get\b|help|count|always"
    r"|really|make|become|bring|turn|go\b|take|still|sometimes|often|learn|dream|talk|smile|laugh|enjoy|hardly"
    r"|only\b|almost)\w"
    r"|\b(?:is|are|can be|will be) (?:\w+ly )?(?!tired|bored|pleased|excited|surprised|loved|worried|scared"
    r"|relaxed"
    r"|crowded|interested|used|supposed|needed|gifted|blessed|mixed|annoyed|frustrated|stressed|motivated"
    r"|concerned|convinced|united|divided|filled|packed|missed|amazed|satisfied|red\b|bed\b)\w{2,}ed\b"
)
"""Who can do what, and what is done: no feelings, and nothing that only may be so."""
_BEGINNING = re.compile(r"(?:\A[-*•\s]*|[,;:]\s*|\band\s|\bor\s)([a-z-]+)(?:\s([a-z]+))?")


def _is_order(around: str) -> bool:
    """Whether somebody is told to do something: any piece of what stands around it begins with what to do."""
    for found in _BEGINNING.finditer(around):
        first = found[2] if found[1] in _BEFORE_ORDER else found[1]
        if first in _ORDER:
            return True
    return False


_HAN_STRICT = re.compile(
    "仅|只[限对允]|限于|前提|须|未经|没有[^,，]{1,10}(?:批准|同意|许可|授权)|经[^,，]{1,10}(?:批准|同意|审批|审核|授权|许可|签字|协商一致)|凭|方可|才可|凡|条件|取决于|满"
)
_HAN_RULING = re.compile(
    r"[\d`%¥$_]|可(?![爱惜怕怜能见靠贵喜笑口歌乐])|必[须需]|(?<!必)须|(?<![反适相响供感呼效对])应(?![有接变])|不得|禁|严禁|不[准许予能要可]"
    "|(?<!邀)请(?!多一份|放心|相信|珍惜|记得|别忘|原谅|见谅|谅解|一定|允许)|需(?!求|要)|有权|无权|免费|收[取费]|扣[除款减]?|(?<![后早衰])退(?![休步缩])|赔|换(?!来)|付|缴"
    "|费|价|押金|罚|失效|有效|无效|作废|终止|中止|解除|取消|暂停|停止|延期|顺延|改期|视为|自动|负责|承担|补[偿贴发办交]|优惠"
    "|折扣?|豁免|适用|享[有受]|资格|报销|报名|登记|申请|办理|通知|告知|联系|致电|拨打|就医|停药|医生|重启|重试|报错"
    "|崩溃|失败|返回|运行|回滚|抛出|触发|执行|调用|批准|同意|审批|归[还属]|移交|交付|发货|送达|到账|续[借约期]|转让"
    "|转租|处理|处分|处罚|开除|离场|撤离|关闭|切断|断电|先(?!生)|延[迟后误]|停[运办]|发结业|发证|[获授][得予]|(?:才能|只能|只在|才可以)[^,，]{0,6}(?:入|进|参加|申|使用|领|办|报|退|换|借|开|上|发|提|购|买|带|停|兑|取|登|签|付|考|合并|部署|执行|调用|看|阅)|只有[^,，]{2,}才有|改[在为到至签期用]"
)
_HAN_FRIENDLY = re.compile(
    "开心|高兴|快乐|幸福|舒服|难忘|珍惜|心情|感动|温暖|体谅|回忆|喜欢|欣慰|欢喜|感激|感谢|自豪|骄傲|美好|缘分|负担|回报"
    "|故事|笑|放心|亲切|味道会|别忘|打(?:个)?招呼"
)


def is_han_ruling(words: str, around: str) -> bool:
    """As is_english_ruling, for Chinese, whose condition has its cue in it."""
    if _HAN_STRICT.search(words):
        return True
    if _HAN_VALUE.search(words) or _HAN_VALUE.search(around):
        return True
    if _HAN_FRIENDLY.search(around) or _HAN_FRIENDLY.search(words):
        return False
    return _HAN_RULING.search(around) is not None or _HAN_RULING.search(words) is not None


_HAN_VALUE = re.compile(
    "[\\d`%¥$_]|[一二两三四五六七八九十百千万半]+(?:个?(?:工作日|小时|月|星期)|天|年|元|岁|次|周|分钟|折|倍|成)"
)
