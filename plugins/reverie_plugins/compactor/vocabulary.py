"""The words that tell a finished entry from a live one, in the languages memory files are written in.

A table of patterns, compiled on first use: most nights no lead has a marker, and then none is needed.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

FINISHED: Final = (
    "DONE COMPLETED FINISHED RESOLVED CLOSED CANCELLED CANCELED ARCHIVED MERGED SUPERSEDED OBSOLETE DEPRECATED EXPIRED "
    "SHIPPED"
).split()

OPEN_SHOUTED: Final = (
    "NEXT ACTIVE TODO TO-DO WIP PENDING BLOCKED BLOCKER OPEN ONGOING WAITING AWAITING REMAINING REMAINS FIXME TBD "
    "REOPENED UNFINISHED INCOMPLETE UNBUILT PARTIAL PARTIALLY PARTLY PAUSED DEFERRED"
)
"""Open work in capitals, as status words are: one is enough, wherever it stands in the lead."""

OPEN_SAID: Final = (
    r"\bremains?\b(?! (?:true|valid|in force|unchanged))|\bin[ -](?:progress|flight|review)\b|\bnot yet\b|\byet to\b"
    r"|\bstill (?:needs?|needed|open|to do|to be|missing|pending|waiting|owed|broken|failing|blocked|in)\b|\bto[ -]?do:"
    r"|\b(?:is|are|being) (?:pending|blocked|awaited)\b|\bpending:|\bawaiting\b|\bwaiting (?:for|on)\b|\bleft to do\b"
    r"|\bnext (?:step|up|action)s?\b|\bhalf[ -]?(?:done|way)\b|\bwork in progress\b|\bunder way\b|\bto be (?:done|continued)\b"
    r"|(?<!-)\bowed\b"
    # pt, es, fr, it, de
    r"|\bpendentes?\b|\bpendências?\b|\baguardando\b|\bem andamento\b|\bainda (?:falta|não)|\bfaltam?\b|\bpróximos? passos?\b"
    r"|\bpendientes?\b|\ben curso\b|\btodavía no\b|\bfaltan?\b|\ben cours\b|\bpas encore\b|\breste à\b|\bda fare\b|\bin corso\b"
    r"|\bnoch (?:nicht|offen)\b|\bausstehend\b|\bin arbeit\b|\bsteht noch aus\b"
    # ru, vi
    r"|\bосталось\b|\bещё не\b|\bеще не\b|\bв работе\b|\bожида|\bdở dang\b|\bchưa\b|\bđang (?:làm|chờ|tiến hành)|\bcòn lại\b"
    # zh, ja, ko, th, ar
    r"|待(?:办|办|定|处理|確認|确认|续|續)|未完成|进行中|進行中|尚未|还没|還沒|剩余|剩餘|还需|還需|下一步|未完了|残り|着手中|作業中"
    r"|보류|대기|남음|남은|진행 ?중|미완료|예정|과제|아직|ยังไม่|เหลือ|กำลัง|รอ(?:ดำเนินการ|ผล|คิว)|ค้างอยู่"
    r"|قيد (?:التنفيذ|العمل|الانتظار)|بانتظار|لم يكتمل|متبقي"
)
"""Open work in running text."""

OPEN_SIGNS: Final = "⏳⌛🔄🚧⬜☐🔲🔜⏸"
"""Signs of open work."""

STATE_SHOUTED: Final = (
    "LIVE UP ON ACTIVE ALIVE INTACT ONLINE RUNNING CURRENT ENABLED ALLOWED APPROVED STABLE HEALTHY WORKING OPERATIONAL "
    "READY DEFAULT PERMANENT"
)
"""A state that goes on, in capitals: beside a ✅ it says "works" or "may be done", not "is over"."""

STATE_SAID: Final = (
    r"\b(?:works?|working|running|active|live|enabled|allowed|permitted|supported|available|by default|should|can)\b"
    r"|\b(?:funcionando|funciona|ativ[oa]s?|activ[oa]s?|pode|puede|fonctionne|läuft|aktiv|работает|можно|hoạt động|có thể|được phép)\b"
    r"|可以|可用|正常|启用|允许|默认|無需|无需|できる|使える|가능|동작 중|ใช้งานได้|ทำงานอยู่|يعمل"
)

RULE: Final = (
    r"\b(?:NEVER|ALWAYS|MUST|SHALL|DO NOT|DO NEVER|DON'T|DON’T|MANDATORY|FORBIDDEN|BANNED)\b"
    r"|(?i:(?:^|[.:;!?—–(（,]\s*|[*_★⚠️•]\s*)(?:never|always|must(?: not)?|do not|don['’]t|only ever|make sure|be sure|remember to)\b(?!-))"
    r"|(?i:\b(?:is|are) (?:never|always|forbidden|banned|mandatory|not allowed)\b|\b(?:hard|standing|golden) rule\b)"
    # pt, es, fr, it, de
    r"|(?i:\b(?:nunca|jamais|sempre|siempre|toujours|obrigatóri[oa]|obligatorio|obligatoire|proibido|prohibido|interdit)\b)"
    r"|(?i:\b(?:niemals|darf nicht|dürfen nicht|vietato|не разрешается|никогда|всегда|нельзя|обязательно)\b)"
    # vi, zh, ja, ko, th, ar
    r"|(?i:\b(?:không được|luôn luôn|bắt buộc|tuyệt đối)\b)|必须|必須|不要|禁止|切勿|务必|務必|永远不|永遠不|必ず|してはいけない|しないこと"
    r"|항상|반드시|금지|하지 ?말|절대|ห้าม|ต้อง(?!การ)|เสมอ|อย่า|يجب|ممنوع|دائما"
)
"""A standing rule: shouted, or an imperative at the head of a clause."""

CORRECTION: Final = r"[(（]\s*(?i:not|never|no|não|nunca|nao|nicht|kein|keine|pas|non|не|không phải|không|ไม่ใช่)\s|[(（]\s*(?:不是|不|非|ではなく|아니)"
"""A parenthesis that says what the thing is not: a fact to keep, whatever the box before it says."""

NEGATION: Final = (
    r"(?i:\b(?:not?|never|cannot|without|un|non|isn|aren|wasn|don|doesn|didn|won|can|hasn|haven)(?:['’]t)?"
    r"|\b(?:be|if|when|once|whenever|until|till|unless|before|almost|nearly|mostly|partly|partially|half|should|must|will|would"
    r"|shall|may|might|as|than|as soon as|after being|reopened after|not yet"
    r"|não|nao|nunca|nem|quando|se|até|no|cuando|hasta|pas|jamais|quand|si|nicht|nie|wenn|bis|fast|не|если|когда"
    r"|chưa|không|khi|ولم|لم|ليس))\s+(?:\w+\s+){0,1}$"
    r"|(?:不|未|没|沒|尚未|还没|還沒|没有|沒有|如果|直到|안|못|ยังไม่|ไม่|ถ้า|เมื่อ)\s*$|[=$@#.]$"
)
"""Before a status word, in its clause: it is denied, or spoken of."""

AFTERWARDS: Final = r"\s*[?？]|[=(]|\.\w|\s+(?i:when|if|unless|until|means?|only if|once|as soon as|quando|se|wenn|bis|hasta)\b|\s*(?:=|:=|==|≠|≙)\s"
"""After a status word: it is asked about, defined, or has a condition."""

RULEBOOK: Final = (
    r"(?i:\b(?:rules?|guidelines?|conventions?|preferences?|polic(?:y|ies)|legend|capabilit(?:y|ies)|features?|do(?:'|’)?s"
    r"|advantages?|benefits?|pros|strengths?|(?:current|system) (?:state|status)|health|regras?|preferências?|vantagens"
    r"|reglas?|preferencias?|ventajas|règles?|préférences?|avantages|regeln?|vorlieben|vorteile|правила|quy tắc|quy định"
    r"|ưu điểm|hiện tại)\b)|规则|規則|规范|規範|偏好|约定|优势|优点|好处|现状|当前状态|ルール|規約|好み|利点|現状|규칙|선호|원칙|장점"
    r"|กฎ|ข้อกำหนด|ข้อดี|قواعد"
)
"""Titles under which a ✅ means "do it so" or "it is so"."""

EXPLAINS: Final = (
    r"[*_]{0,3}(?i:(?:why|what|how|when|where|who|which|por qu[eê]|porque|como|cómo|qué|warum|wie|pourquoi|comment|почему|как"
    r"|tại sao|cách)\b|为什么|为何|如何|怎么|什么|なぜ|どう|왜|어떻게|무엇|ทำไม|อย่างไร)"
)
"""The begin of a title that explains something."""

PARENT_FIELD: Final = r"(?i:[*_]*(?:status|state|stand|estado|statut|stato|trạng thái|статус|状态|狀態|ステータス|状態|상태|สถานะ|الحالة)[*_]*\s*[:：])"
"""A lead that is a field of whatever stands above it."""


@cache
def pattern(source: str) -> re.Pattern[str]:
    """One of the patterns above, compiled once."""
    return re.compile(source)


@cache
def words(source: str) -> re.Pattern[str]:
    """A list of words in capitals, each matched whole."""
    return re.compile(rf"(?<![\w-])(?:{'|'.join(source.split())})(?![\w-])")
