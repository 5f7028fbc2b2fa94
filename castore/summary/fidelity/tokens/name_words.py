"""Words that begin with a capital and are no names, or none by themselves; and words that are."""

from __future__ import annotations

from castore.summary.fidelity.tokens.listed import listed

__all__ = ["COMMON", "GENERIC", "GIVEN", "LITTLE", "NEVER", "SPEAKS"]

NEVER = listed(
    """
    pa kpa mpa hpa mol lux lm nits mbps gbps kbps ppm ppb dba rms cc ml dl mah mwh ev kev mev kcal kj nm hp
    eps roi ebitda gdp vat gst yoy qoq mom arr mrr cagr ipo nav npv irr capex opex cogs gmv dau mau nps
    csat rsvp pto wfh nda qa ci cd led lcd oled hdmi usb usb-c mri ct ecg ekg bmi dna rna hiv icu er ed
    pcr ppe iv otc gp bpm atm pin otp sso mfa 2fa saml ldap rbac iam waf cdn cors jwt oauth grpc rest soap
    rpc sse ntp smtp imap pop3 ftp sftp nat mtu bgp ttl qps tps rps oom nan gc jvm jdk jre repl orm dsl
    ast ddl dml etl elt olap oltp acid dag npu fpga asic pcb bom sku upc ean rma rfp rfq rfi sow msa mou
    loi poa dob ssn ein tin iban swift bic gpa phd msc bsc ba ma mba md jd cv gif png jpg jpeg svg tiff
    avi mov zip tar iso dpi ppi rgb cmyk hdr fps ar vr xr iot nlp ocr tts asr rag post put patch delete
    tldr diy suv ev rv hq po rpm psi mpg mph kph kwh mwh kw mw hz khz mhz ghz db dbm mah wh lb lbs oz ft
    sq yd gal pt qt tsp tbsp bbq ups monday tuesday wednesday thursday friday saturday sunday mon tue tues
    wed thu thur thurs fri sat sun january february march april may june july august september october
    november december jan feb mar apr jun jul aug sep sept oct nov dec q1 q2 q3 q4 h1 h2 fy am pm utc gmt
    cet cest est edt pst pdt bst ist jst cst i i'm i'll i've i'd ok ui ux api apis url urls uri http https
    html css json xml yaml toml csv pdf sql cpu gpu ram ssd hdd id ids uuid guid io os pc tv faq eta etc
    aka asap fyi tbd tbc n/a ps cc bcc re fw fwd vs ie eg hr it pr prs rd ceo cto cfo coo cio ciso vp vps
    svp evp pms sre devops ai ml llm dns tcp udp ip ssh tls ssl vpn lan wifi wi-fi gb mb kb tb gib mib kib
    kg km cm mm mg usd eur gbp cny rmb jpy hkd aud cad chf inr sgd us uk eu usa u.s. u.k. ad bc ce bce sla
    slas slo kpi okr mvp poc crud sdk cli ide gui todo fixme note notes warning caution important tip info
    error debug trace fatal warn critical see not no must only all any never always do don't shall should
    and or if but yes true false none null new customer customers client clients user users supplier
    suppliers vendor vendors contractor contractors licensee licensor tenant tenants landlord lessor
    lessee buyer buyers seller sellers party parties company companies employee employees employer
    agreement agreements contract contracts service services product products term terms condition
    conditions section sections clause clauses article articles appendix annex schedule exhibit chapter
    figure table part parts step steps phase policy policies order orders provider providers member
    members borrower lender insured insurer policyholder patient patients participant participants
    subscriber subscribers recipient discloser guest guests passenger passengers student students
    applicant applicants board management manager managers team teams support sales finance legal
    engineering marketing operations security compliance procurement accounting payroll facilities design
    infrastructure platform department office committee summary overview background introduction
    conclusion results result methods method objective objectives purpose scope definitions definition
    action actions item items agenda attendees decision decisions owner deadline status date time subject
    from to dear hi hello thanks thank regards best sincerely cheers mr mrs ms dr prof sir english chinese
    mandarin french german spanish japanese internet web email sms app apps online site website
    confidential information effective fees fee software work works state states government court law act
    intellectual property rights force majeure data personal processor controller
    """
)

LITTLE = listed(
    """
    of the and for de la van von der den di da du del al el bin y & at in on
    """
)
"""Words inside of names, in lower case."""

GENERIC = listed(
    """
    inc ltd llc llp plc corp corporation co company gmbh ag sa bv kk pte limited group holdings
    partners associates international global national federal royal united north south east west
    northern southern eastern western new old great central saint st mount lake river street road
    avenue lane drive square building tower floor suite room university college school institute
    academy hospital clinic center centre bank airport station hotel library museum park city county
    state province district region department ministry office agency authority commission committee
    council board bureau division team unit service services system systems platform project program
    programme initiative plan policy act law code standard agreement protocol guide manual report
    review summit conference forum meeting day week month year director manager officer president
    chief head lead senior junior vice deputy assistant associate chair secretary minister engineer
    developer designer analyst consultant professor doctor nurse attorney judge captain customer
    client user support success sales finance legal security data privacy protection product
    marketing operations engineering research development technology technologies solutions software
    cloud network digital media press news magazine journal times store market shop line air
    airlines airways logistics foods health care insurance capital energy motors industries labs
    laboratory studio foundation association society union federation club first second third
    edition version pro plus max mini enterprise premium standard basic free server client api app
    web mobile desktop mr mrs ms dr prof sir
    """
)
"""Words that belong to names, and that say nothing of which name it is."""

GIVEN = listed(
    """
    aaron abdul abigail adam adrian ahmed aisha alan albert alejandro alex alexander alexandra
    alexis ali alice alicia alison allison amanda amber amelia amina amir amy ana anders andre
    andrea andreas andrew andy angela anil anita ann anna anne annie anthony antonio anya arjun
    arthur ashley astrid aya barbara beatrice ben benjamin bernard beth bill bob brandon brenda
    brian bruno caleb camila carl carla carlos carmen carol caroline carolyn catherine cecilia
    charles charlie charlotte chen chloe chris christian christina christine christopher cindy
    claire clara claudia connor cynthia daniel daniela david dana deborah deepak denise dennis derek
    diana diego dmitri dmitry donald donna dora dorothy douglas dylan edgar eduardo edward elena
    eleanor eli elias elijah elizabeth ella ellen emily emma eric erik erika erin ethan eva evan
    evelyn fatima felix fernando fiona frances francis frank fred gabriel gary george gerald gina
    giovanni gloria gordon grace greg gregory hannah hans harold harry hassan heather helen helena
    henrik henry hiroshi howard hugo ian ibrahim ingrid irene iris isaac isabel isabella ivan jack
    jacob jake james jamie jan jane janet jason jasmine javier jean jeff jeffrey jennifer jenny
    jeremy jessica jim joan joanna joe joel johan john johnny jonas jonathan jordan jorge jose
    joseph joshua juan judith judy julia julian julie juliet justin karen karim karl kate katherine
    kathleen katie keith kelly ken kenji kenneth kevin khalid kim kofi kristen kumar kyle lara larry
    laura lauren lee leila lena leo leon leonard lewis li liam lily lin linda lisa liu lopez lucas
    lucia lucy luis luke lydia magnus malik marco marcus margaret maria marie marina mario mark
    marta martha martin mary mateo matt matthew maya megan mei mehmet melissa mia michael michelle
    miguel mike mina ming miriam mohamed mohammed monica nadia naomi natalia natalie natasha nathan
    neha neil nicholas nick nicole nikhil nina noah nora olga oliver olivia omar oscar pablo pamela
    patricia patrick paul paula pedro peter philip phoebe pierre priya rachel rafael rahul raj ralph
    raymond rebecca renee ricardo richard rita robert roberto robin rohan roger ronald rosa rose roy
    ruth ryan sam samantha samir samuel sandra sanjay sara sarah scott sean sergei sergio shan
    sharon shirley simon sofia sonia sophia sophie stefan stella stephanie stephen steve steven
    stuart susan suzanne sven sylvia tania tara taylor teresa terry theo theodore theresa thomas tim
    timothy tina todd tom tomas tony tracy uma ursula valerie vanessa vera veronica victor victoria
    vijay vikram vincent vivian walter wang wei wendy will william xavier yan yang yuki yuri yusuf
    yvonne zachary zara zhang zoe
    """
) - {"will", "mark", "may", "grace", "rose", "frank", "bill", "jack", "lee", "mina", "dana"}

SPEAKS = listed(
    """
    said says told asked agreed promised confirmed noted emailed wrote called volunteered proposed
    suggested explained mentioned thinks reported signed leads owns presented argued warned
    apologized apologised joined volunteers
    """
)
"""What only somebody with a name does, if the word before it has a capital and is no common word."""

COMMON = listed(
    """
    a an the this that these those here there he she it they we you i his her its their our your my one
    two three four five six seven eight nine ten some any all each every both either neither no none many
    much most more few several other others another such same what which who whom whose when where why how
    if unless until while although though because since as so and or but nor yet for to of in on at by
    with from into onto over under about after before between during through within without against among
    along across behind beyond despite except like near off out per than toward towards up upon via let
    let's please now then also still even just only not never always often sometimes usually generally
    typically currently previously recently finally first second third fourth last next lastly
    additionally furthermore moreover however therefore thus hence otherwise instead meanwhile overall
    anyway perhaps maybe probably possibly certainly clearly obviously actually basically simply yes ok
    okay great good perfect excellent nice sure right well oh hi hello thanks thank sorry do does did
    don't doesn't didn't is are was were be been being am has have had having can could can't cannot will
    won't would wouldn't shall should must may might need needs make makes made making use uses used using
    see run running runs read reading write writing wrote add added adding adds create created creating
    update updated updating remove removed removing delete deleted fix fixed fixing fixes check checked
    checking checks test tested testing tests look looking looks find found finding get getting got give
    given gives go going goes take taken takes taking keep kept keeping set sets setting put show shows
    showing shown start started starting starts stop stopped begin beginning change changed changes
    changing move moved moving call called calling send sent sending return returns returned follow
    following follows include includes including included ensure ensures based due according regarding
    concerning considering note notes example examples question questions answer answers issue issues
    problem problems error errors file files code data user users key keys value values name names type
    types line lines list lists time times date day days week weeks month months year years today tomorrow
    yesterday open opened close closed apply applies implement implemented implementing build built
    building deploy deployed deploying install installed installing review reviewed reviewing verify
    verified verifying confirm contact visit email reply submit request requests approve approval payment
    payments refund refunds delivery shipping invoice invoices price prices cost costs total amount budget
    revenue profit sales growth average minimum maximum access account accounts password passwords login
    backup backups server servers database system systems network service client clients response
    responses message messages report reports meeting meetings project projects task tasks work working
    works plan plans planned version versions release releases released upgrade upgrades support supported
    supports default defaults option options settings configuration config parameter parameters feature
    features function functions method methods class classes module modules package packages library
    command commands script scripts output input result results status state states step steps stage phase
    process processes procedure rule rules policy law laws contract agreement parties party customer
    customers employee employees staff people person everyone anyone nobody someone nothing something
    everything anything members guests visitors patients students teachers doctors nurses managers
    engineers developers operators administrators admins owners drivers passengers travelers travellers
    tenants candidates applicants vendors suppliers contractors participants children adults women men
    residents volunteers speakers attendees reviewers authors readers researchers violations exceptions
    exemptions conditions requirements restrictions limits limitations fees charges discounts deposits
    cancellations bookings reservations orders items products goods parts tickets claims complaints
    feedback training travel hotel flights flight train trains bus buses breakfast lunch dinner food water
    heat bake mix stir serve cook cooking preheat combine pour whisk fold cover store refrigerate season
    garnish chop slice avoid consult discontinue dose doses tablets tablet medication medicine treatment
    symptoms side effects operation operations maintenance downtime outage incident incidents monitoring
    alerts alert logs log logging traffic latency throughput memory disk storage cache queue retry retries
    timeout rollback migration migrations once twice again later earlier soon immediately effective
    subject failure failures failing failed fails success successful successfully unfortunately
    fortunately importantly specifically similarly likewise consequently accordingly together rather quite
    very too enough less least half quarter full empty high low long short large small big old new early
    late best better worst worse different similar common public private internal external local remote
    global main major minor initial final complete completed incomplete pending active inactive available
    unavailable required optional mandatory valid invalid enabled disabled allowed forbidden prohibited
    permitted scheduled expected estimated proposed approved rejected accepted declined signed dated
    received shipped delivered ordered paid unpaid overdue refunded credited charged billed consider
    considered discuss discussed decide decided agree agreed accept believe think know want wants help
    helps try tries trying turn turns provide provides provided requires require allow allows explain
    describe describes remember recall ask asks tell tells say says said learn understand wait waiting
    waits bring schedule order buy sell pay select choose click press enter save load download upload copy
    paste search replace edit view print export import convert merge split sort filter group join connect
    disconnect enable disable restart reboot reset restore recover rename resolve resolved repair replaced
    record recorded track sign register research study studies paper analysis evidence findings sample
    samples model models dataset datasets experiment experiments section chapter table figure appendix
    page pages paragraph item attention warning caution tip reminder purchase purchaser sale sum loss
    title rights consent notice notices obligation obligations liability damages damage warranty
    warranties indemnity breach remedy interest principal debt loan mortgage lease rent premium coverage
    benefit benefits claim beneficiary estate asset assets equity share shares stock bond dividend tax
    taxes income expense expenses salary wage bonus pension leave vacation holiday holidays absence
    overtime shift shifts hour hours resignation termination dismissal recruitment interview offer
    candidate course courses lesson exam grade grades semester term thesis essay lecture seminar workshop
    workshops session sessions keynote talk talks panel poster papers journal volume abstract keyword
    keywords reference references acknowledgements discussion limitation background objective aim
    hypothesis theory observation measurement quality quantity size weight height width depth length speed
    power energy force pressure temperature voltage current frequency range distance area capacity rate
    ratio level score rank index limit threshold target goal goals milestone milestones roadmap backlog
    sprint story epic bug bugs branch commit pull push deployment environment production staging
    development integration unit regression performance stability reliability availability scalability
    usability accessibility privacy safety emergency evacuation fire alarm exit entrance door window floor
    ceiling wall roof garden kitchen bathroom bedroom living room hall lobby reception desk counter chair
    lamp light lights switch button buttons screen display keyboard mouse cable battery charger sensor
    camera speaker microphone printer scanner router modem antenna engine motor pump valve tank pipe hose
    wheel tire brake gear clutch seat belt mirror horn fuel oil gas petrol diesel coal wood stone glass
    metal steel iron copper plastic rubber leather cotton wool silk salt sugar flour butter milk cream
    cheese egg eggs bread rice pasta meat beef pork chicken fish fruit vegetable vegetables onion garlic
    pepper sauce soup salad dessert cake cookie coffee tea juice wine beer morning afternoon evening night
    noon midnight weekend weekday spring summer autumn winter fall sun moon star sky rain snow wind storm
    weather climate north south east west left top bottom front back center middle inside outside man
    woman boy girl child baby mother father parent parents brother sister son daughter husband wife friend
    family neighbour neighbor colleague boss assistant secretary clerk cashier waiter driver pilot captain
    crew guard police officer soldier judge lawyer witness defendant plaintiff victim suspect crime theft
    fraud injury illness disease infection fever pain cough allergy rash surgery therapy dosage pill
    capsule syrup injection vaccine mesh networks routing protocol protocols node nodes cluster clusters
    instance instances container containers image images registry pipeline pipelines job jobs worker
    workers scheduler trigger event events hook hooks webhook endpoint endpoints header headers body
    payload token tokens cookies certificate certificates signature hash nonce schema schemas column
    columns row rows records field fields entity entities indexes query queries transaction transactions
    lock locks thread threads heap stack buffer stream socket port host hosts domain domains proxy gateway
    firewall balancer replica shard partition snapshot dump archive ping whereas kudos fill fly drive
    speak reach drop notify escalate assign tag mention welcome meet invite forward hire phone text book
    inform grandpa grandma mum mom dad bravo congrats congratulations heads team guys folks everybody dear
    hey attn re fwd kind warm warmly yours sincerely faithfully cc ps nb secondly thirdly firstly
    initially originally eventually ultimately throughout depending assuming regardless whenever wherever
    whoever whatever whichever
    """
)
"""Words that sentences begin with."""
