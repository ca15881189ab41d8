package analysis

// kin are groups of words of which people who write software use one for the
// other. The rule for a group: with one word of it in place of another, a note
// still answers the same question. A word stands in several groups if it has
// several senses. Two words in a row are run together, as pullrequest. The
// groups are by hand, from the trade's common abbreviations, plain words for
// its terms, nouns whose stem is not that of their verb, and spelling.
const kin = `
	admin administrator
	algo algorithm
	app application
	approx approximately roughly
	arch architecture
	arg argument param parameter option flag
	async asynchronous
	attr attribute property field
	auth authentication authenticate login credential sso oauth
	auth authz authorization permission
	avg average mean
	bin binary executable exe
	bool boolean
	calc calculate calculation compute computation
	cert certificate tls ssl https
	cfg conf config configuration configure setting preference
	char character letter glyph
	cmd command
	comms communication
	compat compatible compatibility
	concurrent concurrency parallel simultaneous race
	conn connection connect socket
	const constant
	cpu processor core
	cred credential password passwd passphrase secret token
	db database postgres mysql sqlite sql
	dep dependency library package module
	dev developer engineer programmer
	dev development local
	dict dictionary map
	diff difference compare
	dir directory folder
	dns resolver lookup hostname nameserver
	doc documentation manual readme docs
	env environment
	err error exception failure fault
	exec execute execution run
	fn func function method routine
	fs filesystem disk
	gc garbagecollection garbagecollector
	gpu cuda nvidia graphicscard graphics
	gui ui interface screen
	http request
	ide editor vim neovim vscode
	impl implementation implement
	info information
	infra infrastructure
	init initialize initialise initialization startup
	int integer
	js javascript
	k8s kube kubernetes
	lang language
	lb loadbalancer balancer
	lib library package module
	max maximum limit cap ceiling
	mem memory ram heap oom
	oom outofmemory
	min minimum
	misc miscellaneous
	ml machinelearning model training
	msg message event
	ms millisecond
	nav navigation
	num number
	obj object
	ops operations
	opt optional option
	org organization organisation
	os operatingsystem
	param parameter
	passwd password
	perf performance speed
	pg psql postgres postgresql
	pic picture image photo img
	pkg package module library
	pr pullrequest mergerequest
	pref preference prefer favorite favourite
	prod production live
	proc process
	py python
	qa testing
	ref reference
	regex regexp pattern
	repo repository
	req request
	req requirement require
	resp response reply answer
	sec second
	spec specification
	src source
	sso singlesignon saml oauth login
	stat statistic
	std standard
	str string
	sub subscription subscribe
	sync synchronize synchronise synchronization
	sys system
	temp tmp temporary
	temp temperature heat thermal
	ts typescript
	ttl lifetime expiry expire expiration
	tx txn transaction
	tz timezone
	url uri link address
	util utility helper
	val value
	var variable
	ver version
	vm virtualmachine hypervisor
	yaml yml
	i18n internationalization translation locale
	l10n localization translation locale
	a11y accessibility

	abort cancel stop terminate
	accident mistake accidental
	agree agreed decide decision
	alarm alert page notification notify warning warn
	allow permit permission grant
	allowlist whitelist
	ambiguous unclear
	amount quantity sum total
	analyze analyse analysis
	answer reply response respond
	archive backup
	assistant bot agent chatbot llm
	attempt try retry
	authenticate login signin
	automatic automatically auto
	autoscaler autoscale hpa scale
	avoid prevent forbid
	backlog queue lag pending
	backup snapshot restore dump copy
	bandwidth throughput
	ban forbid forbidden prohibit
	bill invoice billing charge
	blacklist denylist blocklist block deny
	blank empty white
	blob attachment file object
	block blocked stuck hang
	bot robot
	box machine host server node computer
	break broken fail failure
	browser chrome firefox safari
	bug defect issue problem glitch
	build compile compilation compiler
	bump upgrade update raise
	buy purchase order
	buyer customer client shopper consumer
	cable wire
	cam camera webcam
	cap limit quota maximum
	card board
	cash money payment
	cent penny
	chart graph plot diagram
	chat conversation talk
	cheap cost price inexpensive
	check verify validate validation test
	choose pick select decide choice prefer
	ci pipeline workflow build
	clash conflict collision
	clean cleanup purge prune
	click tap press
	client customer user
	clock time
	close closure shut
	cloud aws gcp azure
	code source
	color colour
	colleague teammate coworker
	combine merge join
	command cli terminal shell console
	comment remark
	company vendor firm
	compress gzip zip zstd compression
	computer machine server laptop
	consumer worker subscriber
	container docker pod image
	contract agreement
	convert conversion transform
	convention style guideline standard rule
	copy duplicate clone
	corrupt corruption damage broken
	cost expense expensive price spend bill
	crash panic die dead abort segfault
	create generate make add
	cron schedule scheduler periodic nightly job
	csv spreadsheet excel
	damage break broken
	dashboard grafana panel
	date day time
	deadline timeout limit
	deadlock lock
	debug debugger troubleshoot diagnose investigate
	decrease reduce reduction lower shrink cut
	dedup dedupe deduplicate duplicate
	default fallback
	delay latency lag wait slow
	delete remove erase drop purge wipe deletion removal destroy
	deliver delivery send
	deny refuse reject forbid 403
	depend dependency
	deploy deployment rollout release ship publish
	deprecate obsolete legacy
	describe description explain explanation
	destroy destruction destructive
	device hardware
	disappear vanish lost missing gone
	discard drop
	discover discovery
	disk drive ssd storage volume
	divide division split
	docker container image
	donate donation sponsor fund
	double twice duplicate two
	download fetch pull
	drop lose lost
	duplicate twice double repeat identical
	edit modify change
	email mail smtp inbox
	employee staff
	enable activate
	encode encoding charset utf8
	encrypt encryption cipher
	end finish complete
	endpoint api route
	engineer developer
	enlarge increase grow
	error mistake wrong
	exclude exclusion ignore skip
	expand expansion
	experiment trial
	expire expiry expiration lapse
	export extract dump
	exposure expose leak
	extend extension
	external outside outbound egress third
	extension plugin addon
	fail failure
	fake mock stub
	fast quick quickly rapid speed
	fast faster speed performance
	feature functionality
	fee charge commission
	file document
	fix repair solve solution resolve patch
	flag toggle switch
	flaky unreliable intermittent unstable nondeterministic
	float decimal
	font typeface glyph
	forget forgot
	freeze hang stuck stall unresponsive
	frequent often frequency
	frontend ui web
	full exhaust fill
	gateway proxy
	gone vanish missing
	graceful drain shutdown
	grow growth increase
	guard protect protection safety
	guide manual howto runbook
	hand manual manually
	handover handoff
	hardware device board
	hash digest checksum
	heap memory
	heartbeat ping liveness
	height high tall
	hide hidden conceal
	hook webhook callback
	hotfix patch
	huge large big
	house home
	idempotent idempotency duplicate twice
	ignore skip
	image picture photo
	import ingest load
	improve improvement better
	incident outage postmortem downtime
	include inclusion
	increase raise grow bump
	index indices
	input stdin
	insert add
	install installation setup
	instance replica node server pod
	internal private
	internet network online wan
	jitter random
	job task cron worker
	keep retain retention
	kill terminate sigkill killed
	know knowledge
	label tag annotation
	lag delay behind
	lambda serverless function
	laptop computer machine
	law legal gdpr compliance license
	layout format
	leader master primary
	leak leakage leaked
	length long
	library dependency
	license licence
	light bright
	limit quota cap throttle
	linter lint eslint
	list enumerate
	login signin logon
	loop cycle
	lose loss lost
	loud noise noisy
	mail email
	main master trunk
	maintain maintenance upkeep
	measure metric measurement benchmark
	meeting standup call
	merchant seller shop store
	mobile phone android ios
	module package
	money currency amount
	monitor monitoring prometheus metric observability
	move migrate migration relocate
	name rename
	nobody noone none
	null nil none
	offline disconnected
	old stale outdated obsolete
	oncall pager rotation
	optimize optimise optimization faster
	outage downtime
	output stdout
	owner maintainer responsible
	paint render draw display
	paging pagination paginate cursor offset
	partition shard
	password secret
	pay paid payment charge
	payout settlement
	people person user
	percent percentage ratio
	permission access privilege right
	persist save store
	personal private gdpr pii
	pipeline etl
	policy rule
	practice convention habit
	preproduction staging stage
	press button
	previous prior former last
	privacy gdpr pii
	problem issue trouble
	profile profiler profiling
	proof prove
	provide provision
	purge wipe delete
	push upload
	quarantine isolate
	query question search
	queue kafka rabbitmq sqs topic
	race concurrency
	random shuffle seed
	rare uncommon infrequent seldom
	ratelimit throttle limiter
	read load
	reboot restart
	receive receipt reception
	record row entry
	recover recovery restore
	refund chargeback return
	register registration signup
	release version publish
	reload refresh
	remember memory
	repeat retry
	replace swap substitute replacement
	replica copy mirror
	reproduce reproducible deterministic
	resolve resolution
	restart reboot boot
	result outcome output
	retry attempt backoff
	revert rollback undo
	review reviewer approve approval
	rotate rotation renew
	round rounding
	runbook playbook procedure
	runner worker
	identical equal
	sample sampling
	save store write
	scale replica autoscale
	secure security
	secret vault key
	send sent deliver transmit
	sensor probe
	separate split isolate
	server backend host
	several multiple
	share common
	shell bash zsh fish terminal
	shop store
	shorten truncate cut
	shutdown stop terminate termination
	sign signature
	simulate simulation sim
	sleep wait
	slow slowly latency
	small tiny little minor
	sound audio
	speak talk
	speed fast slow
	stall stuck
	start begin launch boot startup
	state status
	stop halt end
	storage disk space
	strange weird odd unexpected
	strength strong
	subscription subscribe
	suspend suspension pause
	table relation
	task ticket job
	team squad group
	technique method
	test tests spec
	thread goroutine
	throttle slow
	ticket issue jira
	tidy clean cleanup
	toggle switch
	tool utility
	trace tracing
	traffic load requests
	train training learn fit
	translate translation
	transmit transmission
	tune tuning
	undo revert
	unsafe dangerous risky
	upload post
	usage use consumption
	vendor provider supplier
	version release
	vpn wireguard tunnel
	vulnerability cve exploit
	warn warning
	website site page web
	weird strange
	width wide
	wrong incorrect bad invalid
	zero empty null

	one 1
	two 2 twice
	three 3 thrice
	four 4
	five 5
	six 6
	seven 7
	eight 8
	nine 9
	ten 10
	dozen twelve 12
	hour 60min
	day 24h
	weekend saturday sunday
	week weekly 7d
	night nightly overnight
	month monthly
	year yearly annual annually
	quarter quarterly

	artefact artifact
	authorise authorize
	behaviour behavior
	cancelled canceled
	catalogue catalog
	centre center
	customise customize
	defence defense
	favourite favorite
	finalise finalize
	grey gray
	honour honor
	labelled labeled
	labour labor
	localise localize
	minimise minimize
	modelling modeling
	normalise normalize
	organise organize
	prioritise prioritize
	recognise recognize
	serialise serialize
	standardise standardize
	summarise summarize
	tokenise tokenize
	utilise utilize
	virtualise virtualize
	visualise visualize

	backend server
	timeout timedout
	onprem onpremises selfhosted
	setup install
	shutdown poweroff
	twofactor 2fa mfa otp
	commandline cli
	failover standby replica
	readonly immutable
	opensource oss
	hardcoded constant literal
	crossorigin cors
	racecondition race
	stacktrace traceback backtrace
	featureflag toggle
	healthcheck liveness readiness probe
	errorcode exitcode status
	codereview pr review
	unittest test
	dataloss lost
	pointofsale pos
`
