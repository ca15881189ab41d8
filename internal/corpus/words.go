package corpus

import "strings"

// The words that developers use often, the most common ones first.
var (
	nouns = strings.Fields(`error test build file index cache config server client query user request response
		service branch commit database schema migration table column row value field list map function method
		module package import type variable constant pointer memory leak thread lock deadlock race channel
		callback event loop queue worker job timer timeout retry backoff limit rate network socket port host
		proxy certificate header cookie session login webhook endpoint route handler middleware controller
		repository model view template component state store reducer hook effect style theme layout form input
		validation parser lexer syntax tree node edge graph path directory folder permission owner group shell
		script kernel driver registry environment alias symlink mount volume disk partition journal backup
		snapshot archive stream buffer transaction rollback isolation join plan optimizer cost latency
		throughput benchmark profile trace span metric log level warning alert dashboard cluster ingress
		operator pipeline stage artifact release version changelog format review comment ticket roadmap design
		decision record preference lesson convention naming newline encoding locale timezone date calendar
		pattern match filter iteration recursion stack heap allocation inline binary library symbol option
		argument parameter default override fallback feature toggle experiment rollout canary incident outage
		runbook checklist documentation example tutorial prompt agent harness embedding vector retrieval
		ranking recall precision fixture mock assertion coverage mutation property regression bisect diff patch
		hunk conflict worktree submodule signature tenant billing invoice payment currency rounding overflow
		matrix gradient batch epoch dataset label tokenizer vocabulary corpus`)
	verbs = strings.Fields(`use run fix add remove change check write read load save start stop update delete
		call return pass fail break keep drop move copy merge rebase push pull deploy restart retry cache flush
		sync lock release open close parse format validate encode decode compress hash sign verify index search
		sort filter group join split wrap unwrap mount attach detach scan count measure profile trace log raise
		catch ignore skip block wait poll watch notify publish subscribe queue schedule cancel abort resume
		pause throttle limit scale shard replicate restore backup migrate upgrade downgrade pin vendor bundle
		compile link inline allocate free leak escape quote trim rename refactor extract review approve revert
		bisect squash stash tag document explain deprecate replace override configure enable disable`)
	adjectives = strings.Fields(`new old slow fast empty stale fresh large small remote local shared nested
		missing broken flaky stable atomic durable idempotent concurrent parallel sequential lazy eager static
		dynamic generic optional required default custom internal external public private temporary permanent
		cold warm hot partial complete valid invalid duplicate unique sorted random signed unsigned mutable
		immutable nullable recursive redundant obsolete experimental legacy portable verbose silent strict
		loose quick safe unsafe ordered unordered bounded unbounded`)
	extensions = strings.Fields(`.go .py .ts .rs .md .sql .yaml .sh`)
	prefixes   = strings.Fields(`re un pre de auto multi sub over cross meta micro inter super non mis out`)
	suffixes   = strings.Fields(`er ing ed able ness ment less ful ship ize ism ary ous ward like`)
	onsets     = strings.Fields(`b br c ch cl d dr f fl g gr h j k kl l m n p pl pr r s sh sk st t th tr v w z`)
	rhymes     = strings.Fields(`a e i o u ar el in or un ai eth ock and ist omb`)
)

// What a sentence is made of: capitals stand for words to be filled in.
//
//	N noun   V verb   A adjective   T rare word   I identifier   D number
var (
	titles = []string{
		"A N for N", "how to V the N", "I and the A N", "never V the N", "N of the T N", "I fails with a A N",
		"why the N must V", "T: V N before N", "N and N in I", "decision: A N for the N",
	}
	sentences = []string{
		"the N of the N must V the N before I can V it",
		"we decided to V the N with I because the N was too A",
		"I fails when the N is A and the T does not V",
		"never V a N while the A N is in use",
		"if the N does not V after D seconds, V the T and look at I",
		"N and N share one T, so a A N can V both",
		"use I instead of I for every A N",
		"the A N took D ms until we could V the N",
		"do not V the N by hand: I does it, and the T stays A",
		"T was the reason: its N kept a A N for each N",
		"to V the T, V the N first and then the N",
		"on a A N the N has to V twice, once for the N and once for the T",
		"a N without N is A",
		"I returns a A N if there is no N to V",
		"they V the N of T in I, which is why our N was A",
		"after the N we V every N again and compare it with the T",
		"the N has D entries and only D of them are A",
		"V I before you V the N, or the A T will V it",
		"remember that T can V the N only with a A N",
		"for the next N: V the A N, keep the T, V nothing else",
	}
)

// The same for notes in Chinese.
var (
	chineseNouns = strings.Fields(`数据库 索引 缓存 会话 部署 测试 用户 认证 配置 内存 线程 死锁 超时 日志 监控 回滚
		迁移 接口 前端 后端 依赖 版本 编译器 分支 冲突 权限 目录 路径 服务器 客户端 请求 响应 错误 性能 记忆 代理 模型
		向量 检索 偏好 经验 教训 决定 文件锁 队列 消息 事务 快照 备份 脚本 证书 容器 集群 网络 协议 端口 磁盘 字段
		函数 参数 变量 指针 格式 编码 时区 任务 进程 信号 补丁 仓库 标签 文档 示例 指标 告警 延迟 吞吐量 流水线 插件`)
	chineseVerbs = strings.Fields(`使用 检查 修复 更新 删除 重启 合并 推送 拉取 提交 压缩 解析 验证 重试 等待 读取 写入
		加载 保存 发布 订阅 取消 锁定 释放 替换 禁用 启用 测量 扩展 复制 恢复 升级 重构 审查 记录 忽略`)
	chineseTitles = []string{
		"N的N", "如何VN", "决定：用 I 做N", "不要VN", "I 和N的N",
	}
	chineseSentences = []string{
		"我们决定用 I 做N，因为N不会V", "如果N没有V，先VN再看 I", "N和N共用一个N，所以必须先V", "不要在N里VN",
		"I 需要 D 秒才能VN", "每次V以后都要VN的N", "N失败的原因是N没有V", "用 I 代替 I 来VN",
	}
)
