"""More words that say one thing, of everyday rules, notices, letters and reports: see concepts.

A line is a concept; an indented one goes on with it.
"""

from __future__ import annotations

__all__ = ["EVERYDAY"]

EVERYDAY = """
worse worsen worsened worsening deteriorate deteriorates aggravate aggravated decline 恶化 加重 变差 变坏
better improve improved improvement improves recover recovers recovered recovery 好转 改善 恢复 康复 痊愈
return returns recur recurs recurrence recurring reappear reappears relapse relapses back 复发 再犯 再次出现
  重现
appear appears develop develops occur occurs arise arises emerge show shows notice 出现 产生 发生 显现
left remaining remain remains leftover surplus 剩余 剩下 余下 剩
close closed closes closing shut shuts 关闭 关门 闭馆 停业 打烊 停运 停开
sell sold sells selling sale sales 出售 售出 销售 卖 售
burn burns burnt scorch scorched 烧焦 糊 焦
dark darken darkens brown browned 变暗 变深 深色
thick thicken thicker 浓稠 稠 浓
thin dilute diluted 稀 稀释
sticky stick sticks tacky 粘 黏
salty salt 咸 盐
sweet sugar 甜 糖
hot warm heat heated 烫 热 高温
cold cool chill chilled chilly 冷 凉 冰 低温
boil boils boiling boiled 烧开 煮沸 沸腾 水开 开锅
wrap wrapped 包好 裹
cover covered lid 盖 覆盖
oven bake baked baking 烤箱 烘焙 烤
flour 面粉
dough 面团
add added adding put 添 加 加入 放入 倒入 添加
taste season 味道 调味
enter enters entering entry come comes admitted admit admission let 进入 入内 进场 入场 进 上山 入馆
exit leave leaves depart departure departing 离开 离场 出发 退场
come attend attends attending attendance present join joins show 参加 出席 到场 参与 来
absent absence miss missed missing 缺席 缺勤 不到
late overdue arrears behind outstanding owed owing 逾期 拖欠 欠 迟到 晚
early ahead advance beforehand earlier prior 提前 预先 事先
wait waits waiting 等待 等候
drive drives driving driven driver 驾驶 开车 驾车 司机
ride rides riding 骑 骑行 骑乘 乘坐
walk walks walking foot 步行 走路
swim swims swimming 游泳
run runs ran running race raced racing 跑 赛跑
fly flies flying flown air plane flight 飞行 飞 空运 航空
sea ship boat ferry 海运 船 渡轮
train rail railway 火车 列车
smoke smokes smoking smoker smokers cigarette cigarettes 吸烟 抽烟 烟
drink drinks drinking alcohol alcoholic wine beer 喝酒 饮酒 酒
eat eats eating food meal meals fasting 吃 进食 用餐 食用 饮食
pregnant pregnancy 怀孕 孕妇 妊娠
breastfeed breastfeeding nursing 哺乳
itch itchy rash hives 皮疹 瘙痒 起疹 疹
dizzy dizziness faint light-headed 头晕 眩晕
pain painful hurts hurt ache sore 疼痛 疼 痛
diarrhoea diarrhea 腹泻 拉肚子
bleed bleeding blood 出血 流血
breathe breathing breath 呼吸
sight vision eyesight eye eyes 视力 眼 眼睛
swelling swollen swells swell 肿胀 肿
vomit vomits vomiting sick nausea 呕吐 恶心 吐
fade fades faded discolour bleach 褪色 掉色 变色
allergic allergy allergies 过敏
hospital er clinic doctor 医院 就医 看医生 就诊
emergency a&e 急诊 急救
medicine medicines medication drug drugs tablet tablets pill pills dose 药 药物 药片 服药 用药
nurse nurses 护士
wound stitches bandage dressing 伤口 缝线 敷料
child children kid kids minors minor toddler boy girl pupils baby babies infant kids' 子女 宝宝 儿童 孩子
  小孩 未成年 婴儿 幼儿 娃
adult adults grown-up grown-ups 成人 成年人
parent parents mother father mum dad guardian 家长 父母 监护人
elderly senior seniors pensioner pensioners old 老人 老年人 长者
family families relatives household 家属 亲属 家人 家庭
friend friends 朋友
outsiders others others' people other else another anybody anyone 他人 别人 其他人 旁人 外人
stranger strangers outsider visitor visitors guest guests 访客 来宾 外人 客人
owner owners proprietor 所有人 车主 业主
lodge lodging overnight stay 住宿 过夜 留宿
pet pets animal animals dog dogs cat cats 宠物 动物 狗 猫
tree trees plant plants 树 植物
fire fires flame flames bonfire 火 明火 火灾 起火
glass bottles bottle 玻璃 瓶
knife knives sharp weapon weapons 刀具 利器
photo photos photograph photographs photography picture pictures camera filming film 拍照 摄影 照相 拍摄
  录像 相机
record recorded recording recordings video 录音 录像 录制
phone phones mobile smartphone handset 手机 电话
computer computers laptop laptops pc device devices 电脑 计算机 设备
screen display monitor 屏幕 显示屏
keyboard mouse 键盘 鼠标
internet online web network wifi 网络 上网 联网
power electricity outage blackout cut electrical plug unplug 电源 断电 停电 电力
battery batteries charge charging 电池 充电
water rain wet damp moisture soaked flood flooded flooding 水 雨水 潮湿 受潮 浸
lift lifts elevator elevators 电梯
stairs staircase 楼梯
door doors gate entrance 门 大门 入口
window windows 窗 窗户
wall walls 墙 墙面
paint painted painting repaint 粉刷 刷漆 油漆
roof ceiling 屋顶 天花板
garden yard lawn 花园 院子 草坪
kitchen cook cooking 厨房 做饭
luggage bag bags baggage suitcase belongings 行李 物品
locker lockers cupboard cabinet 储物柜 更衣柜 柜
key keys card keycard 钥匙 房卡 门卡
bed beds 床位
noise noisy loud quiet silence silent 噪音 安静 吵闹 喧哗 静音
clean cleaned cleaning tidy wash washed washing 清洁 打扫 清洗 洗 保洁
dirty stain stained stains soiled 污渍 脏 弄脏 污损 污
garbage rubbish trash waste litter 垃圾 废物
look looks looking care caring mind watch supervise supervised attended supervision accompany accompanied
  escort escorted accompanying 看管 照看 陪同 陪 看护
hold holds held keep keeps store stores stored look 保管 寄存 存放
carry carries bring brings brought wear wears wearing 携带 佩戴 穿戴 带 戴 装
helmet helmets 头盔 安全帽
glove gloves 手套
shoes boots 鞋
dispose discard discarded throw thrown toss bin 丢弃 扔 废弃
lose loses lost loss losing misplace misplaced theft 丢失 遗失 丢 挂失
steal stolen steals theft thief robbed burglary 偷 被偷 盗 被盗 失窃 盗窃
find finds found 找到 拾到 发现
break breaks broken breakage damage damages damaged damaging harm harmed destroy destroyed spoil 损坏 污损
  破损 毁坏 弄坏 坏 损毁
defect defects fault faults faulty malfunction flaw flaws bug bugs 缺陷 故障 瑕疵 质量问题
wear tear natural normal 磨损 损耗 自然
part parts piece pieces component components 部件 零件 缺件
accessory accessories 配件 附件
missing incomplete lack lacks lacking short 缺 缺失 缺少 少了 不全
wrong incorrect mistake mistakes error errors erroneous 错误 有误 错 弄错
true correct accurate accuracy right 正确 准确 真实 属实
false fake forged forgery untrue fraud fraudulent cheat cheating cheats 虚假 伪造 作弊 造假 舞弊 欺诈
secret confidential confidentiality disclose discloses disclosure reveal reveals outside leak leaks 保密
  机密 泄露 外传 外泄 透露
personal private privacy 个人 隐私 私人
own himself herself themselves yourself oneself personal personally 本人 自己 亲自 自行
transfer transfers transferred transferable hand handed pass passed give assign assigned lend lent loan 转让
  转借 借给 转给 移交 转移 过户 转交
sublet sublets subletting sublease 转租
copy copies copied copying reproduce reproduction duplicate 复印 复制 拷贝 翻印
quote cite cited citing 引用
resell resale resold 转售 转卖 倒卖
commercial commercially business profit profits profitable 商业 营利 盈利 商用
free gratis complimentary nothing 免费 不收费 免
charge charged charges cost costs fee fees price prices expense expenses pay pays paid 收费 费用 花费 邮费
  运费 收取
extra additional surcharge supplement separately separate 另收 另付 额外 另算 另租 附加 自理 另行 自费
included include includes including inclusive contain contains comprise comprises covered 包含 包括 含
  算在内 带
provide provides provided supply supplies supplied offer offers offered give gives given 提供 供应 给予
rent rents rented rental hire hired lease leased 租 租用 租赁 租借
deposit deposits bond 押金 保证金 定金
money cash funds fund funding sum balance amount 现金 资金 钱 款项 金额 余额
withdraw withdrawal withdrawals 提现 取现 取钱 提款
grant grants subsidy subsidies subsidised award awards 资助 补助 补贴 津贴
tax taxes duty duties customs vat 税 关税 税费
invoice invoices bill bills receipt receipts 发票 账单 收据 凭证 小票
coupon coupons voucher vouchers promo 优惠券 代金券 券
combine combined cumulative stack stacked together 叠加 合并使用 同时使用 一起用
exchange exchanged exchanges exchangeable redeem redeemed convert converted swap 兑换 换 换成 折现
refund refunds refunded returned refundable reimbursed back 退款 退钱 退费 退还 退
return returns returned returnable 退货 退换 退回 归还 还
cancel cancels cancelled cancelling canceled cancellation cancellations 取消 撤销 退订
postpone postponed postponement defer deferred delay delayed reschedule rescheduled put 延期 推迟 改期 顺延
  延后
extend extended extension extends renew renewed renewal renews prolong 续租 续约 延长 续期 续签 续
book booked booking bookings reserve reserved reservation reservations 预订 预约
change changed changes alter altered alteration amend amended amendment modify modified switch switched 修改
  更改 变更 改动 改 改签
raise raised raising increase increases increased hike rise 上涨 涨 提高 上调 加价 涨价
lower lowered reduce reduced reduction cut cuts decrease decreased drop dropped 下调 降低 降价 减少 降
accept accepted accepts acceptance take takes taken admitted 接受 受理 接纳
reject rejected refuse refused refusal decline declined turn turned 拒绝 驳回 拒收 谢绝
eligible eligibility entitled entitlement qualify qualifies qualified right 有权 资格 符合 享有 享受
apply applies applied applicant applicants application applications request requests requested ask asks
  asked claim claims 申请 请求 申报 索赔 提出
approve approves approved approval consent consents agree agrees agreed agreement permission sign signed
  signs signoff ok okay 批准 同意 许可 审批 核准 点头 签字
confirm confirmed confirmation confirms 确认 核实
write written writing letter paper 书面 写 信
sign signs signed signature signatures countersigned 签字 签名 签署
tell tells told inform informs informed notify notifies notified notice report reports reported let know
  contact call 告知 通知 联系 报告 上报 反映 打招呼
answer answers answered reply replies replied respond response hear back 答复 回复 回电 回应 反馈
call calls called phone phoned ring rings telephone 致电 打电话 来电 回电
send sends sent mail forward dispatch ship ships shipped shipping deliver delivers delivered delivery 寄
  发送 寄出 发货 邮寄 派送 送达 配送
upload uploads uploaded post 上传
download downloads downloaded 下载
publish publishes published announce announced announcement release released post posted out 公布 发布 公示
  刊登 出炉
open opens opened opening 打开 开启 开放 拆封 拆开
start starts started begin begins began commence commences commencement work 开始 动工 开工 启动 开课 施工
finish finishes finished ready complete completes completed completion done end ends over 完成 结束 竣工
  做完 修完 完工
stop stops stopped cease discontinue discontinued suspend suspended pause quit 停止 停 暂停 中止 停用 停药
continue continues continued carry go 继续 接着
repeat repeats repeated again retry retried retries rerun twice 重复 再次 重试
try tries tried attempt attempts attempted 尝试 试图 试
help helps helped assist assists assistance support 帮助 协助 支援 帮
fix fixes fixed repair repairs repaired mend mended service servicing 修理 维修 修复 检修
replace replaces replaced replacement swap swapped renew new 更换 替换 换新 换 调换
install installs installed installation fit fitted mount mounted set put 安装 装 装配
remove removes removed removal take out detach dismantle uninstall 拆除 拆卸 卸载 移除 取下 拆
move moves moved relocate moving 移动 搬 搬运 挪
touch touches touched 触摸 触碰 碰 摸
press pressed pressure push squeeze heavy weight 压 按压 重压
check checks checked inspect inspected examination examine test tests tested review verify 检查 检测 测试
  检验 审核 查看
monitor monitors monitoring alert alerts alarm alarms 监控 告警 警报 报警
restart restarts restarted reboot reboots 重启
crash crashes crashed fail fails failed failure failures down outage 崩溃 失败 故障 宕机 中断 出错 不行 不成功
deploy deploys deployed deployment release releases rollout ship live 部署 上线 发布
roll rollback revert reverts reverted undo undone 回滚 撤回 还原
merge merges merged merging 合并 合入
branch branches 分支
commit commits committed push pushes pushed 提交 推送
delete deletes deleted erase erases erased erasure deletion wipe purge drop clear clears cleared clearing
  empty 删除 清除 删 清空 抹掉
overwrite overwrites overwritten 覆盖
backup backups snapshot snapshots 备份 快照
restore restores restored recover recovered 还原 恢复
encrypt encrypted encryption mask masked anonymise anonymised anonymize anonymized redact redacted 加密 脱敏
  匿名
database databases db schema migration migrations migrate migrated 数据库 迁移 库
config configuration configured setting settings set configure 配置 设置 设定
feature features function functions functionality 功能
code source program script scripts 代码 脚本 程序
interface api endpoint endpoints 接口
password passwords credential credentials token tokens secret secrets 密码 凭证 令牌 密钥
login log logged sign 登录 登陆
account accounts profile 账号 账户 帐号
access accesses get into reach read reads 访问 获取 查阅 接触
production prod live 生产 线上
traffic load peak rush busy 流量 高峰 负载 高峰期
memory ram cache caches 内存 缓存
disk storage drive space full 磁盘 硬盘 存储 空间
version versions 版本
support supports supported compatible 支持 兼容
maintain maintained maintenance maintainer maintainers upkeep 维护 保养
warranty guarantee guaranteed warranties cover coverage 保修 质保 保质 担保
responsible responsibility liable liability accountable answerable blame fault 责任 负责 担责 承担
compensate compensates compensation damages indemnity 赔偿 补偿 赔 赔付
insure insured insurance insurer insurers policy 保险 投保 承保
accident accidents incident incidents injury injured injuries 事故 意外 受伤
contract contracts agreement lease deal 合同 协议 合约
party parties side sides 一方 双方 当事人
terminate terminates terminated termination quit resign resigns resigned resignation 终止 解除 解约 离职
  辞职
breach breaches breached violate violates violated violation offence 违反 违约 违规
penalty penalties fine fines fined punish punished 罚款 违约金 处罚 罚
law laws legal legally court courts statute lawful 法律 法院 法规 依法
evidence proof prove proves certificate certificates certified document documents documentation papers 证明
  证书 证件 凭据
identity id passport identification 身份证 护照 身份
register registers registered registration enrol enrolled enroll 登记 注册 报名
member members membership 会员 成员
staff employee employees personnel colleague colleagues worker workers crew team 员工 职工 同事 工作人员
  人员
manager managers boss supervisor supervisors superior lead leader head 经理 主管 领导 上级 负责人
director directors 总监 董事
ceo president chairman 总经理 总裁 董事长
teacher teachers instructor invigilator invigilators tutor trainer proctor 老师 教师 监考 教练 教员
student students pupil pupils candidate candidates examinee learner 学生 考生 学员
exam exams examination examinations test 考试 考
class classes lesson lessons course courses lecture session 课程 上课 讲座
homework assignment assignments coursework 作业
score scores grade grades mark marks result results 成绩 分数 结果
school schools 学校 校 上学 学龄 在校
hall room rooms venue classroom 教室 房间 场馆 会议室 客房 考场
meeting meetings rehearsal rehearsals gathering meet meets 会议 集会 排练 见面
concert show performance sing sings singing 演出 音乐会 演唱
ticket tickets pass passes admission 门票 票 车票 机票
seat seats 座位 席位
travel travels travelling trip trips journey tour tours 旅行 行程 出行 出差 旅游
passenger passengers traveller travellers 乘客 旅客
hotel hotels hostel accommodation inn 酒店 旅馆 宾馆
breakfast lunch dinner 早餐 午餐 晚餐
thunder thunderstorm thunderstorms lightning 雷暴 雷电 打雷 雷雨 雷
same equal level tie tied draw identical 相同 一样 持平 平局
stipulate stipulated prescribe prescribed otherwise 规定 另有规定 要求 法定
wind windy gale storm storms 大风 风大 风力 暴风
snow snowy ice icy frozen freeze freezes freezing frost 雪 结冰 冰冻 冻
weather climate 天气
space room permitting spare vacancy vacant available capacity 空位 空 地方 有空
rain rains rainy raining wet 下雨 雨天 降雨 雨
chain chains 防滑链 链
park parks parked parking 停车 停放 泊车
vehicle vehicles car cars truck van 车辆 车 汽车 私家车 自驾
bicycle bicycles bike bikes cycle cycling 自行车 单车
speed speeding fast 速度 转速 限速
road street lane path 道路
shop shops store stores seller retailer dealer dealers merchant 本店 店方 商店 店铺 商家 店家
company firm business organisation organization enterprise corporation 公司 单位 企业 机构
client clients customer customers buyer buyers purchaser user users consumer 客户 顾客 买家 买方 用户
supplier suppliers vendor vendors provider 供应商 供货商 厂家
product products goods item items article merchandise ware 商品 产品 货物 东西 物品
custom customised customized bespoke tailor-made personalised personalized made-to-order 定制 订做 定做
gift gifts present presents 赠品 礼品 礼物
package packages parcel parcels box boxes packaging 包裹 箱 盒 包装
sample samples trial trials preview previews 样品 试用 试用期 预览
design designs drawing drawings sketch draft drafts 设计 图纸 草图 草稿
photographers artist illustrator 摄影师 画家
book books novel 书 图书 书籍
library archive archives 图书馆 档案
museum exhibition exhibit exhibits 博物馆 展厅 展品 展览
lend lends lent borrow borrows borrowed borrower loan 借 借阅 借出 借用
tool tools equipment gear machine machines machinery kit 工具 设备 装备 器材 机器
use uses used using usage employ employed operate operates operated 使用 用 操作 动用
handle handles handled treat treated process processed 处理 办理
lock locks locked unlock 锁 锁定
sleep asleep bed rest 睡 休息
work works working job jobs shift overtime 工作 上班 加班
holiday holidays vacation leave weekend weekends 假期 休假 放假 年假 节假日 假
salary salaries wage wages pay bonus bonuses 工资 薪资 奖金 薪水
hire hires hired hiring employ employed recruit employment 雇用 录用 聘用 招聘
train trains trained training 培训 训练
volunteer volunteers 志愿者 义工
donate donates donation donations donor 捐赠 捐款 捐
vote votes voting ballot poll election elect 投票 选举 表决
majority most half 多数 过半 半数
share shares shared sharing split 分享 共享 共用
public publicly openly 公开 公共
third outsiders partner partners external 第三方 外部 合作方
contact touch reach reached 接触 联系 够得着 够着
swallow take taken oral 口服 服用 吞服
empty fasting stomach 空腹
skin 皮肤
hand hands
wash washed rinse rinsed 洗 冲洗
light lights lighting sunlight sun bright 阳光 日晒 照明
dry dried drying 干燥 晾干 干
fridge refrigerator refrigerated 冷藏 冰箱
store stored storage 存放 储存 保存
expire expires expired expiry lapse lapses lapsed void invalid 过期 失效 到期 作废 无效
valid validity effective force 有效 生效
morning mornings a.m 早晨 早上 上午 清晨
evening evenings night nights 晚上 夜里 半夜 午夜 夜间
obtain obtained get acquire 获得 取得 拿到 得到
publicise advertise advertising promotion 宣传 推广 广告
immediately promptly instantly straight straightaway once right asap 立即 马上 立刻 当即 随即 尽快
urgent emergency emergencies urgently 紧急 急 应急
alone single 单独 独自
negotiate negotiated negotiation talk talks discuss discussed discussion consult 协商 商量 谈 讨论 洽谈
dispute disputes conflict conflicts disagreement 争议 纠纷 分歧
arbitration arbitrate 仲裁
force majeure 不可抗力
subcontract subcontracted outsource 分包 外包 转包
fence fenced enclose 圈占 圈 围
abroad overseas foreign 境外 国外 海外 出国 出境
unilaterally alone single 单方面 单独 一方
together jointly both 共同 一起
indoor indoors outdoor outdoors 室内 户内 室外 户外
inside interior 室内 里面
outside exterior 室外 户外 外面
lead leash 牵绳 牵引绳 拴
feed feeds feeding fed 喂 投喂 喂食
mention mentions say says said word speak speaks 提到 提及 提起 提
blame blames reproach 责怪 指责
know knows knew known aware told informed acquainted 认识 知道 了解 知晓
see sees saw seen look 看见 看到 看
full intact original condition complete completeness 完好 完整 未使用 原样
influence affect affects affected impact impacts 影响
build builds built building construct 建造 施工 建设 构建
data information info record records details 数据 信息 资料 记录
log logs 日志
file files 文件
row rows line lines
customer-service helpdesk service desk 客服
subscribe subscribed subscription subscriptions subscriber 订阅
freeze freezes frozen 冻结
interest 利息 利率
loan loans lending mortgage 贷款 借贷 房贷
house home flat apartment property premises 房屋 住房 房子 住宅 购房
furniture furnishings 家具 设施
""".strip()
