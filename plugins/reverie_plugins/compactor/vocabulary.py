"""The words that tell a finished entry from a live one, in the languages memory files are written in.

Tables of patterns, parted by bars, a line or more for a language; each is compiled when it is first asked for, since
most nights no lead bears a marker.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

FINISHED: Final = """
DONE | COMPLETED | FINISHED | RESOLVED | CLOSED | CANCELLED | CANCELED | ARCHIVED | MERGED | SUPERSEDED | OBSOLETE
DEPRECATED | EXPIRED | SHIPPED
"""

OPEN_SHOUTED: Final = """
NEXT | ACTIVE | TODO | TO-DO | WIP | PENDING | BLOCKED | BLOCKER | OPEN | ONGOING | WAITING | AWAITING | REMAINING
REMAINS | FIXME | TBD | REOPENED | UNFINISHED | INCOMPLETE | UNBUILT | PARTIAL | PARTIALLY | PARTLY | PAUSED | DEFERRED
IN PROGRESS | IN FLIGHT | IN REVIEW
"""
"""Open work in capitals, as status words are: one is enough, wherever it stands in the lead."""

OPEN_SAID: Final = """
remains?(?! (?:true|valid|in force|unchanged)) | in[ -](?:progress|flight|review) | not yet | yet to | left to do
still (?:needs?|needed|open|to do|to be|missing|pending|waiting|owed|broken|failing|blocked|in) | to[ -]?do(?=:)
(?:is|are|being) (?:pending|blocked|awaited) | pending(?=:) | awaiting | waiting (?:for|on) | next (?:step|up|action)s?
half[ -]?(?:done|way) | work in progress | under way | to be (?:done|continued) | (?<!-)owed
but (?:still|not) | needs? \\w+ing | still to
pendentes? | pendências? | aguardando | em andamento | ainda (?:falta|não) | faltam? | próximos? passos?
pendientes? | en curso | todavía no | faltan? | en cours | pas encore | reste à | da fare | in corso
noch (?:nicht|offen) | ausstehend | in arbeit | steht noch aus
осталось | ещё не | еще не | в работе | ожида\\w+ | dở dang | chưa | đang (?:làm|chờ|tiến hành) | còn lại
قيد (?:التنفيذ|العمل|الانتظار) | بانتظار | لم يكتمل | متبقي
"""
"""Open work in running text."""

OPEN_UNSPACED: Final = """
待(?:办|定|处理|確認|确认|续|續) | 未完成 | 进行中 | 進行中 | 尚未 | 还没 | 還沒 | 剩余 | 剩餘 | 还需 | 還需 | 下一步
未完了 | 残り | 着手中 | 作業中 | 보류 | 대기 | 남음 | 남은 | 진행 ?중 | 미완료 | 예정 | 과제 | 아직
ยังไม่ | เหลือ | กำลัง | รอ(?:ดำเนินการ|ผล|คิว) | ค้างอยู่
"""
"""The same in scripts that part no words."""

OPEN_SIGNS: Final = "⏳⌛🔄🚧⬜☐🔲🔜⏸"
"""Signs of open work."""

STATE_SHOUTED: Final = """
LIVE | UP | ON | ACTIVE | ALIVE | INTACT | ONLINE | RUNNING | CURRENT | ENABLED | ALLOWED | APPROVED | STABLE | HEALTHY
WORKING | OPERATIONAL | READY | DEFAULT | PERMANENT
"""
"""A state that goes on, in capitals: beside a ✅ it says "works" or "may be done", not "is over"."""

STATE_SAID: Final = """
works? | working | running | active | live | enabled | allowed | permitted | supported | available | by default
should | can | runs | fires | daily | nightly | weekly | hourly | monthly | every
funcionando | funciona | ativ[oa]s? | activ[oa]s? | pode | puede | fonctionne | läuft | aktiv
работает | можно | hoạt động | có thể | được phép | يعمل
"""
STATE_UNSPACED: Final = """
可以 | 可用 | 正常 | 启用 | 允许 | 默认 | 无需 | 無需 | できる | 使える | 가능 | 동작 중 | ใช้งานได้ | ทำงานอยู่
"""

RULE_SHOUTED: Final = """
NEVER | ALWAYS | MUST | SHALL | DO NOT | DO NEVER | DON['’]T | MANDATORY | FORBIDDEN | BANNED | IMPORTANT | REMEMBER
"""
RECURRING: Final = "repeats? | repeating | recurring | wiederholt | se repite | se répète | повторя\\w+"
"""What comes again: ticked today, it is open next week."""
RECURRING_BEGUN: Final = "daily | nightly | weekly | hourly | monthly | yearly | every \\w+"
RULE_BEGUN: Final = "never | always | must | do not | don['’]t | only ever | make sure | be sure | remember to"
"""A rule where they begin a clause."""
RULE_SAID: Final = """
(?:is|are) (?:never|always|forbidden|banned|mandatory|not allowed) | (?:hard|standing|golden) rule
nunca | jamais | sempre | siempre | toujours | obrigatóri[oa] | obligatorio | obligatoire | proibido | prohibido
interdit | niemals | darf nicht | dürfen nicht | vietato | не разрешается | никогда | всегда | нельзя | обязательно
không được | luôn luôn | bắt buộc | tuyệt đối | يجب | ممنوع | دائما
"""
RULE_UNSPACED: Final = """
必须 | 必須 | 不要 | 禁止 | 切勿 | 务必 | 務必 | 永远不 | 永遠不 | 必ず | してはいけない | しないこと
항상 | 반드시 | 금지 | 하지 ?말 | 절대 | ห้าม | ต้อง(?!การ) | เสมอ | อย่า
"""

NOT_SAID: Final = "not | never | no | não | nunca | nao | nicht | kein | keine | pas | non | не | không phải | không"
"""What a parenthesis begins with that says what the thing is not: a fact to keep, whatever the box before it says."""
NOT_UNSPACED: Final = "不是 | 不 | 非 | ではなく | 아니 | ไม่ใช่"

BEFORE: Final = """
not? | never | cannot | without | un | non | (?:is|are|was|do|does|did|wo|ca|has|have)n['’]t | be | if | when | once
whenever | until | till | unless | before | almost | nearly | mostly | partly | partially | half | should | must | will
would | shall | may | might | as | than | after being | reopened after
mark | set | label | não | nao | nunca | nem | quando | se | até | cuando | hasta | pas | jamais | quand | si | nicht
nie | wenn | bis | fast | не | если | когда | chưa | không | khi
ولم | لم | ليس
"""
"""Before a status word, in its clause: it is denied, or spoken of."""
BEFORE_UNSPACED: Final = "不 | 未 | 没 | 沒 | 尚未 | 还没 | 還沒 | 如果 | 直到 | 안 | 못 | ไม่ | ถ้า | เมื่อ"

AFTER: Final = "when | if | unless | until | means? | only if | once | as soon as | quando | se | wenn | bis | hasta"
"""After a status word: it is defined, or has a condition."""

RULEBOOK: Final = """
rules? | guidelines? | conventions? | preferences? | polic(?:y|ies) | legend | capabilit(?:y|ies) | features?
do['’]?s | advantages? | benefits? | pros | strengths? | (?:current|system) (?:state|status) | health
regras? | preferências? | vantagens | reglas? | preferencias? | ventajas | règles? | préférences? | avantages
regeln? | vorlieben | vorteile | правила | quy tắc | quy định | ưu điểm | hiện tại | قواعد
"""
"""Titles under which a ✅ means "do it so" or "it is so"."""
RULEBOOK_UNSPACED: Final = """
规则 | 規則 | 规范 | 規範 | 偏好 | 约定 | 优势 | 优点 | 好处 | 现状 | 当前状态 | ルール | 規約 | 好み | 利点 | 現状
규칙 | 선호 | 원칙 | 장점 | กฎ | ข้อกำหนด | ข้อดี
"""

EXPLAINS: Final = """
why | what | how | when | where | who | which | por qu[eê] | porque | como | cómo | qué | warum | wie | pourquoi
comment | почему | как | tại sao | cách
"""
"""The first word of a title that explains something."""
EXPLAINS_UNSPACED: Final = "为什么 | 为何 | 如何 | 怎么 | 什么 | なぜ | どう | 왜 | 어떻게 | 무엇 | ทำไม | อย่างไร"

STATE_FIELD: Final = """
status | state | stand | estado | statut | stato | trạng thái | статус | 状态 | 狀態 | ステータス | 状態 | 상태 | สถานะ
الحالة
"""
"""Names of a field that tells the state of whatever stands above it."""


@cache
def either(table: str) -> str:
    """The entries of a table as alternatives."""
    return "|".join(part.strip() for line in table.strip().split("\n") for part in line.split(" | "))


@cache
def words(table: str) -> re.Pattern[str]:
    """Whole words of a table; hyphens join."""
    return re.compile(rf"(?<![\w-])(?:{either(table)})(?![\w-])")


@cache
def said(table: str, unspaced: str, before: str = "", after: str = "") -> re.Pattern[str]:
    """Words of a text in lower case, and those of scripts that part no words, between two more patterns."""
    return re.compile(rf"{before}(?:(?<!\w)(?:{either(table)})(?!\w)|{either(unspaced)}){after}")


@cache
def pattern(source: str) -> re.Pattern[str]:
    """A pattern compiled once, when it is first asked for."""
    return re.compile(source)
