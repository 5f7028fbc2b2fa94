"""Concepts: words that say one thing, in English and Chinese, so that a clause is known again in other words.

A line of _GROUPS, and of groups, is a concept; an indented one goes on with it. English words count
whatever their ending, Chinese ones wherever they stand.
"""

from __future__ import annotations

import re
from functools import cache

from castore.summary.fidelity.clauses.groups import EVERYDAY
from castore.summary.fidelity.terms import stem

__all__ = ["english_concepts", "han_concepts"]

_GROUPS = """
refund refunded reimburse reimbursement repay 退款 退费 返还 报销 退还
return returned 退货 退回 退换 归还
buy purchase purchased bought order ordered 购买 订购 采购 买
customer client buyer guest shopper 客户 顾客 买家 用户 消费者
seller vendor supplier merchant provider 商家 卖家 供应商
ship shipped shipping dispatch dispatched send sent courier mail deliver delivered delivery 发货 发出 寄出
  发送 交付 交货 送到 配送 送货
receive received receipt get got 收到 签收 收货
arrive arrival reach 到达 抵达
damage damaged broken defective faulty fault 损坏 破损 故障 坏
open opened unseal unsealed 拆封 打开 开封
pay paid payment pays 支付 付款 付 缴纳 交 支出
fee cost charge price expense 费用 费 价格 运费 金额
free gratis complimentary waive waived 免费 收费
approve approved approval consent permission permit agree agreed authorise authorize authorisation
  authorization signoff endorse accept accepted 批准 同意 审批 许可 授权 审核 核准 签字
manager boss 经理
employee employees staff worker workers personnel colleague 员工 职工 人员 同事
delete deleted remove removed erase erased drop dropped wipe purge 删除 移除 清除 删
vote votes voting voted ballot 投票 表决
live lives lived resident residents 居住 居民 住
swell swells swollen swelling 肿
lend lending lent borrow borrowed borrowing loan 借
keep kept storage retain retained hold held store stored preserve remain stay 保留 保存 存放 储存
share shared disclose disclosed reveal forward pass 分享 共享 披露 泄露 透露
copy copied duplicate 复制 拷贝
notify notified inform informed tell told announce announced advise 通知 告知 公布 公告
report reported 报告 汇报 报案 上报
request requested ask asked apply applied application claim 申请 请求 索赔
submit submitted file filed hand 提交 递交 交 报送
start begin began begun commence 开始 启动 起
end ended finish finished complete completed completion done expire expired lapse lapsed 完成 结束 终止
  期满 届满 到期 过期 作废
stop stopped cease halt pause suspended suspend 停止 暂停 停药 停
cancel cancelled canceled terminate terminated termination quit 取消 解约 解除 终止
interest 利息 无息
fail outage cut failed failing failure error broke crash 失败 出错 报错 故障
repair repaired fix fixed mend restore restored service serviced 修复 维修 修理 修好 恢复
replace replaced replacement swap swapped exchange exchanged 更换 换 替换 换货
change changed modify modified alter altered edit edited touch touched adjust adjusted update updated 修改
  改动 变更 更改 更新 调整 改
use used using usage 使用 用
work worked working 工作 上班
merge merged 合并 合入
deploy deployed deployment release released rollout publish published launch launched 发布 上线 部署
support supported 支持
include included contain contained containing 含有 包含 包括 含
cover covered coverage warranty 保修 保障 承保 覆盖
insure insured insurance 保险 投保
child children kid kids minor minors 儿童 孩子 小孩 未成年人
doctor physician 医生 医师 大夫
patient patients 患者 病人
pregnant pregnancy 孕妇 怀孕
take taken swallow 服用 吃 用药
rash 皮疹
fever temperature 发烧 体温 发热
food meal eat eaten 食物 食品 饮食 餐
fresh perishable 生鲜
alcohol drink 饮酒 酒
smoke smoking 吸烟 抽烟
pet pets animal animals dog dogs 宠物 狗
tenant tenants renter 租客 承租人 租户 乙方
landlord owner lessor 房东 出租人 甲方 业主
lease rent rental let 租 租赁 出租
sublet sublease 转租
deposit 押金 定金
write written writing 书面
sign signed signature 签 签署 签字
data information 数据 资料 信息
backup backups 备份
key keys token secret credential credentials password 密钥 令牌 密码
test tests tested testing check checked inspect inspected inspection verify verified examine examined
  review reviewed 测试 检查 检验 检测 验证 审查 复核 核定
server servers host 服务器
production prod live 生产环境 线上
customer-data 客户数据
increase increased rise rises raise raised grow grew up 上升 增加 提高 上涨 提升
decrease decreased fall falls fell drop drops reduce reduced lower lowered down 下降 减少 降低
more over above exceed exceeds exceeded exceeding beyond greater higher heavier older hotter longer larger
  than 超过 大于 高于 多于 以上 超
less under below fewer lower lighter younger colder shorter smaller 少于 低于 小于 以下 不足 不满 不到
gift 礼品 赠品
sale discount promotion clearance 促销 打折 折扣 特价 优惠
emergency urgent 紧急 急诊
holiday holidays vacation leave 假期 休假 节假日 年假
weekend weekends 周末
student students pupil pupils 学生
teacher teachers 教师 老师
school 学校
visit visited visitor 访问 参观 就诊
answer answered reply replied respond responded response 答复 回复 回应 答
call called phone phoned ring telephone 打电话 致电 来电 拨打 电话
email mail e-mail 邮件 邮箱
bring carry 携带 带
enter entry access admission admitted 进入 访问 入内 放行 入场 进场 入馆
late delay delayed overdue 迟到 延误 逾期 推迟 延迟
early earlier soon sooner 提前 提早
reject rejected refuse refused deny denied decline declined 拒绝 驳回
compensate compensated compensation 赔偿 补偿 赔
credit credited 抵扣 返
extend extended extension add added 延长 增加
reserve reserved book booked booking reservation 预订 预约
ticket tickets 票 门票
weather rain rains raining storm 下雨 暴雨 雨 天气
loss lose lost losses 丢失 损失 遗失
collect collected gather 收集 采集
restart reboot restarted rebooted 重启
install installed installation 安装
upgrade upgraded 升级
convert converted migrate migrated move moved 转换 迁移 迁
restrict restricted limit limited cap 限制 限
member members 会员
enough sufficient 足够 充足
require requires required need needs needed must necessary 需要 必须 需 须 要求
write-off 注销
train trained training 培训
draft drafted prepare prepared 起草 准备 编写
expose exposed leak leaked 泄露 暴露
affect affected impact impacted 影响
push pushed 推送
eligible entitled qualify qualified 享受 享有 符合条件
effect impact 效果
light lit ignite burn 点燃
forest bonfire bonfires 篝火
ask request 要求
recruit hire hired 招聘 雇用
meeting 会议 例会
secret confidential private 保密 机密
public 公开
third-party outsider outside third 第三方 外部
supervise attended
normal usual 正常 照常
reliable stable 稳定
immediately once promptly instantly 立即 马上 立刻
month monthly 月 每月
week weekly 周 每周 星期
day daily 天 每天 日
year annual annually yearly 年 每年
quarter quarterly 季度 每季度
morning 上午 早上
night evening nightly 晚上 夜间
person people pupils attendees individuals 人 人数
vehicle car cars 车 车辆 汽车
park parked parking 停车
build building built 建造 施工
water wet immerse immersed submerge 浸水 沾水 水
freeze frozen 冷冻 冻
salt 盐
cook heat boil simmer 煮 加热 炖
license licence 许可证 执照
warehouse 仓库
contract agreement 合同 协议
company firm business employer 公司 企业
finance treasurer 财务
legal lawyer counsel 法务 律师
security 安全
department team group 部门 团队 小组
bank 银行
sick illness ill disease 生病 疾病 病
invoice bill 发票 账单
sample samples 样品
balance 余额
death deaths die died dies dead fatal fatality 死亡 伤亡
eve evening evenings
liable liability liabilities responsible responsibility 责任 免责
slip slips slipped late 延误 推迟
custom customized custom-made bespoke tailor-made personalised personalized made-to-order 定制 订制
goods product products item items merchandise article 商品 货物 物品 产品
parcel package packet box 包裹 包装
merchant shop store 商家 店铺
order orders 订单
apply application 申请
address 地址
phone 手机
photo photos picture 照片 图片
internal internally inside 内部
guardian parent parents parental 监护人 家长 父母
competitor competitors rival rivals 竞争对手
rate 利率
loan borrow borrowed borrower 贷款 借款
penalty fine fines fee 违约金 罚款
salary wage pay 工资 月薪 薪水
discount rebate 折扣
log logs 日志
user users 用户
account accounts 账号 账户
document documents file files 文件 文档
table schema 表
database db 数据库
interface api 接口
branch 分支
review reviewed 评审
code 代码
version 版本
quality 质量
guest visitor 访客
exam examination 考试
engineer engineers 工程师
approve 批复
original 原件 原始
deadline 期限
parts spare 配件
travel trip 出差 差旅
hotel accommodation 住宿 酒店
room 房间
flight fly 航班 机票
pass passed 通过
""".strip()
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")


@cache
def _tables() -> tuple[dict[str, frozenset[str]], dict[str, frozenset[str]], re.Pattern[str]]:
    english: dict[str, set[str]] = {}
    han: dict[str, set[str]] = {}
    for number, line in enumerate(f"{_GROUPS}\n{EVERYDAY}".replace("\n  ", " ").splitlines()):
        for word in line.split():
            table = han if _HAN.match(word) else english
            for key in {word, word if table is han else stem(word)}:
                table.setdefault(key, set()).add(f"={number}")
    longest_first = sorted(han, key=len, reverse=True)
    return (
        {word: frozenset(found) for word, found in english.items()},
        {word: frozenset(found) for word, found in han.items()},
        re.compile("|".join(map(re.escape, longest_first))),
    )


_NONE: frozenset[str] = frozenset()
_ENDING = re.compile("(?:e?s|e?d|ing)\\Z")


def english_concepts(word: str, stemmed: str) -> frozenset[str]:
    """What a word may say: it, it without its ending, or else its stem; nothing if none is in a line.

    The stem goes last, since it makes one of what is information and to inform.
    """
    table = _tables()[0]
    ending = _ENDING.search(word)
    bare = _NONE if ending is None else table.get(word[: ending.start()], _NONE)
    return table.get(word, _NONE) | bare or table.get(stemmed, _NONE)


def han_concepts(run: str) -> list[tuple[int, int, frozenset[str]]]:
    """The words of a run of Chinese that are in a line: where they stand, and what they may say."""
    _, table, pattern = _tables()
    return [(match.start(), match.end(), table[match[0]]) for match in pattern.finditer(run)]
