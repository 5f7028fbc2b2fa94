"""Names in Chinese, which nothing sets apart from the words around them.

A family name and one or two characters are somebody's name if what stands before or behind says so: an
office (`董事长何立群`), a label (`联系人：李娜`), a verb that people are the subject of (`赵明远将`), a list
of names. A firm or a place is what stands before a word for one (`锦江宾馆`), up to a word that can't belong
to its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from castore.summary.fidelity.model import Fact, Text
from castore.summary.fidelity.tokens.listed import listed

__all__ = ["han_name_facts"]

_SURNAMES = (
    "王李张刘陈杨赵黄周吴徐孙胡朱林何郭罗梁宋郑谢韩唐冯董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎潘杜戴夏钟汪姜范姚谭廖邹熊陆郝孔崔康毛邱秦史顾侯邵孟"
    "段雷汤尹黎乔贺赖龚苗覃骆倪牛芦季俞鲁葛毕聂丛焦柳邢岳齐梅莫庄辛祝涂谷祁舒耿牟卜詹凌纪靳盛童甄曲"
    "裴卫屈鲍霍翁隋柏宁柯阮桂闵欧伍褚沙麦储晏仇佟娄屠蓝尤虞岑巩沃湛蔺冉池桑阚符邝佘"
)
_DOUBTFUL = (
    "高方常成任万金石白江龙钱路时向包管单项文田马于余安全关左费章游位景温严席查甘易武尚商满车代丰兰冷修卓楚"
)
"""Family names with which many other words begin."""
_DOUBLES = listed("欧阳 司马 上官 诸葛 慕容 皇甫 司徒 令狐 东方 夏侯 尉迟 公孙 长孙 端木")
_FIRST, _SECOND = ("".join(sorted({each[at] for each in _DOUBLES})) for at in (0, 1))
_GIVEN = (
    r"(?!参[会加与观赛展]|认为|[作成]为|[担出现曾接就兼连主]任|即将|[存正现]在|[关位]于|[宣据]称|[据传]说)(?![的了是在和与不及或请将会已须应可能为被把由从到对等按每各件个项条年月日时分秒元款要有无需后前内外上下其该此这那您你我他她它们给让使用说称报提出者"
    r"间所员户以之也就都而并且着过至于但若如即因吗呢吧啊返答问讲写谈看])[\u4e00-\u9fff]"
)
"""What may stand in a given name: no words of grammar."""
_VERBS = (
    "将|为|任|会(?!议|员|计|场)|表示|说|称|负责|报告|汇报|提出|提交|提醒|承诺|已|在|把|于|告知|主持|确认|说明|要求|建议|指出|同意|完成|组织|宣布|介绍|强调|补充|"
    "认为|发现|修复|恢复|审批|审核|批准|接机|牵头|跟进|担任|因|从|和|与|及|医生|医师|教授|经理|先生|女士|老师|博士|工程师|主任|也|则|需|应|未|没|可|必须|"
    "一方|签字|复核|校对|验收|值班|讲解|演示|陪同|驾驶|设计|撰写|翻译|统筹|协调|督办|落实|监督|接待|接手|提供|保管|出具|开发|测试|"
    "部署|上线|合并|评审|主刀|手术|诊断|随访|护理|致辞|发言|总结|点评|颁奖|上台|分享|展示|签收|领取|签署|拆线|回复|答复|转告|通知|安排|查看|处理|带队|授课|主讲|执笔|编写|起草|反馈|复查|坐诊|到场|出席|参加|参会|担保|转账|付款|收货|代表|等|的"
)
_PERSON = re.compile(
    rf"[{_SURNAMES}{_DOUBTFUL}{_FIRST}](?:[{_SECOND}](?:{_GIVEN}){{1,2}}|(?:{_GIVEN}){{2}}|{_GIVEN})"
    rf"(?={_VERBS}|[\s0-9,.;:!?()\u3001\u3002\u201d\"'|]|\Z)"
)
_LINE = re.compile("[\u4e00-\u9fff][^\n]*+")
"""A line, from where it is Chinese."""
_TITLED = re.compile(
    rf"[{_SURNAMES}{_DOUBTFUL}](?:总(?![^\s,.;:!?、。将会已说在要的])|经理|先生|女士|老师|主任|医生|教授|律师|师傅|阿姨|博士|处长|局长|科长|院长|校长)"
)
_CUE = re.compile(
    r"(?:(?:经理|总监|主任|董事长|总裁|工程师|架构师|设计师|分析师|会计师|医生|医师|护士长?|教授|老师|律师|负责人|对接人|"
    r"联系人|经办人|审批人|申请人|代理人|代表人|收件人|发件人|操作人|主持人|记录人|签发人|监护人|值班员?|聘任|任命|选举|聘请|作者|编辑|记者|"
    r"组长|队长|站长|店长|班长|校长|院长|处长|局长|部长|科长|秘书长?|董秘|主管|助理|顾问|司机|导游|向导|同事|客服|专员|"
    r"甲方|乙方|丙方|出租方|承租方|委托人|受托人|买方|卖方|嘉宾|讲师|主讲|博士|先生|女士|学员|研究员|汇报人|发言人|房东|租客|机长)"
    r"(?:是|为)?:? ?|(?:参会|出席|与会|主持|记录|抄送|致|姓名|签名|签字|审批|审核|联系): ?|@)\Z"
)
"""What somebody's name stands behind."""
_WEAK_CUE = re.compile(r"(?:由|联系|找|请|致|通知|委托|邀请|经|为|是|抄送|参会|主持)\Z")
"""What it often stands behind, if what looks like a family name is hardly another word."""
_LISTED = re.compile(r"(?:参会|出席|与会|参加|成员|名单|主持|列席|参与者|评审|抄送)[^\n。]{0,80}[、,) ]\Z")
_COMMON = listed(
    """
    方案 方便 方式 方法 方向 方可 安全 安排 安装 安静 高温 高度 高级 高峰 高管 高于
    常见 常规 常用 任何 任务 任意 万一 金额 金融 石油 白天 白色 白酒 江苏 江西 江南
    龙头 钱款 马上 于是 余额 余款 余下 程序 程度 成本 成员 成功 成人 成立 成绩 成果
    时间 时候 时段 项目 项下 单价 单位 单独 单次 单笔 包装 包括 包含 管理 管控 文件
    文档 文本 文字 田间 张贴 周期 周末 周边 周一 周二 周三 周四 周五 周六 周日 周岁
    周年 周内 周会 黄金 黄色 许可 许多 谢谢 谢绝 沈阳 严重 严禁 严格 温度 温馨 路由
    路径 路线 路段 关于 关闭 关键 关系 关联 查看 查询 查阅 左右 费用 费率 章节 章程
    游客 席位 景区 顾客 易碎 雷雨 夏季 夏天 秦皇岛 武汉 康复 毛利 毛利率 林业 何时
    何种 何处 陆续 陈述 陈列 史上 段落 杜绝 范围 钟头 童装 童年 盛夏 凌晨 纪要 纪念
    柳州 卫生 卫星 全部 全程 全额 全年 全体 宁波 宁可 桂林 甘肃 季度 季节 齐全 谷歌
    梅雨 毕业 毕竟 莫名 庄重 曲线 屈服 程式 程控 康宁 康健 牛奶 牛肉 江河 华为 苏州
    苏打 汤汁 汤品 姜片 姜末 叶片 丁香 孔径 戴口罩 于今 盛放 曾经 曾任 曾在 唐突 董事
    董事会 董事长 雷达 雷电 熊猫 龙虾 马路 马桶 石材 石膏 白菜 万能 欧元 欧洲 欧盟
    向导 向上 左侧 左边 关注 关怀 黄瓜 胡椒 胡椒粉 胡萝卜 葛根 舒适 舒缓 焦虑 焦点
    祝贺 祝您 项链 田径 钱包 朱红 宋体 韩国 韩式 唐代 宋代 明代 秦岭 梁柱 彭博 路口
    位置 位于 温水 景观 查收 甘油 易燃 武装 严谨 成都 常州 常委 安徽 江城 高速 高铁
    高压 高清 文员 文化 时效 时长 单据 金币 万分 任职 任命 成交 成品 成熟 成年 成年人
    方圆 石灰 包邮 包裹 管道 全国 全新 全面 关门 张数 张力 周转 周围 黎明 林地 林区
    郑重 郑州 徐徐 孙子 朱砂 罗列 吕梁 魏晋 阎王 范例 范本 史料 段位 汤料 贺卡 乔迁
    毛孩 毛衣 毛巾 毛坯 毛发 毛病 毛笔 江边 江水 江面 江湖 江里 江上 林间 林中 林木 林区 黄豆 黄油 黄酒
    姜汤 姜丝 牛油 牛腩 牛皮 牛羊 熊孩 苗木 苗圃 谷雨 柳条 汤匙 汤面 汤锅 罗盘 罗汉 陈旧 陈设 陈醋 陈皮
    张开 张望 周遭 周密 周全 周转 孙女 郭外 贾商 丁字 季风 季节 祝福 祝愿 祝大 谷仓 舒服 梅子 凌乱 童心
    童话 麦子 麦田 池塘 池子 池水 桑叶
    赖以 齐备 季末 季初 毕生 岳阳 祁连 舒展 柏油 欧美 李子 杨树 杨梅 柳树 梅花 桂花
    谷物 牛排 鲁莽 曲目 卜算 童话 盛大 盛会 翁郁 霍乱
    """
)
_STRONG_PLACES = listed(
    """
    有限责任公司 股份有限公司 有限公司 集团 大学 学院 研究院 研究所 会计师事务所 律师事务所 事务所 宾馆 大酒店
    酒店 饭店 医院 国际机场 机场 银行 博物馆 图书馆 体育馆
    """
)
_WEAK_PLACES = listed(
    """
    小区 花园 大厦 广场 水务 物业 科技 快递 速运 物流 证券 出版社 中学 小学 火车站
    高铁站 分公司 公园 基地 山庄 工厂
    """
)
"""Words that much else goes before: what they belong to begins where a sentence or a list does."""


def _any_of(words: frozenset[str]) -> re.Pattern[str]:
    """A pattern that begins with a class of characters: search is slow for one that begins with words."""
    tails: dict[str, list[str]] = {}
    for word in sorted(words, key=lambda each: (-len(each), each)):
        tails.setdefault(word[0], []).append(word[1:])
    ways = (f"(?<={first})(?:{'|'.join(each)})" for first, each in tails.items())
    return re.compile(f"[{''.join(tails)}](?:{'|'.join(ways)})")


_PLACE = _any_of(_STRONG_PLACES | _WEAK_PLACES)
_BEFORE_PLACE = re.compile(
    r"(?:和[协万永仁太祥昌颐])?[^\W的了是在和与及或请将会已为被把由从到对至往于向给让住赴去位经达该本各每某此这那我你您他贵有但持两一二三四五六七八九十几家所间名座个A-Za-z0-9_]*+"
)
_VERB_BEFORE = re.compile(
    r".*(?:通知|告知|联系|选择|提供|开具|出示|报告|属于|访问|参观|任职|就读|毕业|转诊|送医|合作|签约|收购|投资|指定|推荐|介绍|更换|前来|返回|"
    r"授予|委托|入职|加入|隶属于|就职于|"
    r"不能|不得|不可|不会|不应|可以|允许|禁止|必须|需要|应当|能够|泄露|保管|绑定|支付|存入|转入|汇入|汇至|走|"
    r"(?<![通信应专日公军实])用|(?<![重主])要|(?<![智功核])能(?!源|量|动|化))"
)
_GIVEN_TO = ("授予", "委托", "入职", "加入", "隶属于", "就职于")
"""Verbs behind which a firm of two characters stands."""
_PLACE_COMMON = listed(
    """
    公立 私立 三甲 定点 附近 国际 国内 当地 市级 省级 综合 专科 合作 指定 商业 中央
    高新 信息 生物 新能源 下榻 入住 抵达 前往 住院 发卡 开户 收款 付款 转账 抖音 高等
    五星级 快捷 连锁 社区 智能 金融 网上 手机 电子 互联网 优质 第三方 财产 人寿 商业
    医疗 其他 相关 上述 不同 部分 任何 所有 全国 知名 老年 重点 普通 学校 中国 地方
    城市 农村 住宅 居民 老旧 中心 文化 市民 休闲 商务 前期 核心 先进 前沿 最新 黑 高
    新 大 小 老
    进入 离开 办理 提交 取得 超过 参加 比如 例如 拒绝 预订 预定 取消 退订 开设 开立 接送 免费 不含 包含
    包括 客户 本人 他人 个人 公司 员工 患者 学生 旅客 乘客 家属 双方 我方 对方 直接 自行 及时 尽快 统一
    同一 境内 境外 海外 国外 外地 异地 本市 本地 全市 各大 高级 中级 初级 大型 小型 经济型 豪华 民营 民办
    国有 外资 股份制 二级 三级 就近 市内 市区 托管 监管 存管 代理 开证 收单 代发 扣款 结算 清算 主要 仅限
    客房 支持 根据 按照 通过 经过 位于 来自 负责 管理 没有 具有 持有 拥有 携带 凭借 到达 到访 送往 转往
    转至 送至 接到 收到 寄到 寄往 发往 打给 拨打 咨询 询问 投诉 出具 提前 随后 之前 之后 以及 或者 如果
    若是 除了 关于 对于 其中 当天 当日 次日 每天 每日 最后 首次 再次 重新
    """
)


def han_name_facts(text: Text) -> Iterator[Fact]:
    """Names of people, then of firms and places."""
    if text.plain.isascii():
        return
    last = -1
    for line in _LINE.finditer(text.plain):
        start, end = line.span()
        for fact in _people(text, start, end, last):
            last = fact.end
            yield fact
        yield from _places(text, start, end)


def _people(text: Text, begin: int, until: int, last: int) -> Iterator[Fact]:
    plain = text.plain
    for match in _PERSON.finditer(plain, begin, until):
        start, end = match.span()
        said = match.group()
        if text.taken[start] or said in _COMMON or said[:2] in _COMMON:
            continue
        if said[:2] in _DOUBLES:
            is_name = len(said) > 2
        else:
            is_name = len(said) < 4 and (said[0] in _SURNAMES or said[0] in _DOUBTFUL)
        if is_name and _is_person(plain, start, end, last):
            last = end
            yield Fact("name", start, end, said)
    for match in _TITLED.finditer(plain, begin, until):
        start, end = match.span()
        before = plain[start - 1 : start]
        if not before or not "\u3400" <= before <= "\u9fff" or before in "请由向和与及是为找问":
            yield Fact("name", start, end, match.group())


def _is_person(plain: str, start: int, end: int, last: int) -> bool:
    """Whether what stands around these characters says that they are a name. last: where one ended before."""
    behind = plain[end : end + 1]
    is_closed = not "\u3400" <= behind <= "\u9fff"
    before = plain[start - 1 : start]
    if _CUE.search(plain, max(0, start - 8), start) is not None:
        return True
    if plain[start] not in _DOUBTFUL and _WEAK_CUE.search(plain, max(0, start - 2), start) is not None:
        return behind not in "的等因可"
    if last == start - 1 and before in "、和与及,":
        return True
    if before in "、)," and _LISTED.search(plain, max(0, start - 90), start) is not None:
        return True
    if plain[start] in _DOUBTFUL:
        return False
    if before == "\n" or not before or (before == " " and plain[start - 2 : start - 1] in "\n:"):
        line = plain.find("\n", end, end + 4)
        if (line >= 0 or end + 2 >= len(plain)) and not plain[end : line if line >= 0 else None].strip():
            return True
    is_bounded = not "\u3400" <= before <= "\u9fff" and not before.isalnum()
    return is_bounded and not is_closed and behind not in "的等因可及和与"


def _places(text: Text, begin: int, until: int) -> Iterator[Fact]:
    plain = text.plain
    for match in _PLACE.finditer(plain, begin, until):
        kind, end = match.start(), match.end()
        before = plain[max(0, kind - 8) : kind]
        if text.taken[kind]:
            continue
        found = _BEFORE_PLACE.match(before[::-1])
        size = found.end() if found is not None else 0
        said = before[len(before) - size :]
        if (verb := _VERB_BEFORE.match(said)) is not None:
            said = said[verb.end() :]
        is_apart = size == 2 and not "\u3400" <= before[-3:-2] <= "\u9fff"
        is_given = verb is not None and verb[0].endswith(_GIVEN_TO) and len(said) == 2
        if not is_given:
            common = next((said[:length] for length in (4, 3, 2, 1) if said[:length] in _PLACE_COMMON), "")
            said = said[len(common) :]
        if match.group() in _WEAK_PLACES and not is_apart and not is_given:
            continue
        if 2 <= len(said) <= 6 and said not in _PLACE_COMMON and said[-2:] not in _PLACE_COMMON:
            start = kind - len(said)
            yield Fact("name", start, end, plain[start:end])
