/** Decides the next move of one due enrolment. It does no I/O. */
import { type Action, type Position, advance } from '../../../rules/campaigns/advance.ts'
import {
  type CheckedSend,
  type ClaimFacts,
  type HeldBy,
  checkedSend,
  heldBy,
} from '../../../rules/campaigns/checked-send.ts'
import { decideSend } from '../../../rules/campaigns/decide-send.ts'
import { knownZone } from '../../../rules/campaigns/local-time.ts'
import { isConditional, listensForOf } from '../../../rules/campaigns/event-condition.ts'
import type { SendStep, UpdateStep, WaitForStep } from '../../../rules/campaigns/steps.ts'
import type { Channel } from '../../../rules/events/facts.ts'
import type { SkipReason, SkippedReason } from '../../../rules/messages/message-reasons.ts'
import type { IsSuppressed } from '../send/ask-suppressed.ts'
import type { ChosenSender, TakeTurn } from '../send/claim-senders.ts'
import { type MoveFacts, type VersionedRow, addressOf } from './read-move-facts.ts'
import type { FindTopic } from './read-topic-facts.ts'
import type { TestRule } from '../branches/test-rules.ts'

export interface MoveContext {
  facts: MoveFacts
  /** Facts of an enrolment whose campaign has branches. */
  testRule: TestRule | undefined
  isSuppressed: IsSuppressed
  topicOf: FindTopic
  takeTurn: TakeTurn
  newId: () => string
  now: number
}

/** A message that was claimed before, and is not sent again. */
export interface LeftMessage {
  messageId: string
  state: 'skipped' | 'unknown'
  reason: SkippedReason | null
}

export interface NewMessage {
  messageId: string
  step: SendStep
  recipient: string | null
  state: 'claimed' | 'skipped'
  reason: SkipReason | null
  /** Null: it is skipped. */
  sender: ChosenSender | null
  checked: CheckedSend
}

/** A message that was claimed before, and was decided again from the beginning. */
export interface RecheckedMessage {
  messageId: string
  /** The contact may have other addresses by now. */
  recipient: string | null
  /** Null: it is skipped. */
  sender: ChosenSender | null
  checked: CheckedSend
}

/** A message to be sent now. */
export interface Sending {
  messageId: string
  step: SendStep
  recipient: string | null
  sender: ChosenSender
  /** Key of its topic; null when it has none. */
  topic: string | null
}

export type EndState = 'finished' | 'converted' | 'stopped'

/** Where the enrolment goes. */
export type Place =
  | { kind: 'at'; position: Position; dueAt: number; listensFor: string | null; heldBy: HeldBy | null }
  | { kind: 'sends'; position: Position; sending: Sending }
  /** The timeline has to be queried for the counts of the branch. */
  | { kind: 'asks'; position: Position }
  /** An update for the live partition of the business. */
  | { kind: 'updates'; position: Position; step: UpdateStep }
  /** The campaign is paused. `isSettled`: the step's message is settled, or its update was applied. */
  | { kind: 'held'; isSettled: boolean }
  /** `state` null: it had ended before. */
  | { kind: 'end'; state: EndState | null }

export interface Moved {
  row: VersionedRow
  place: Place
  left: LeftMessage[]
  made: NewMessage[]
  rechecked: RecheckedMessage[]
}

export function moveOn(row: VersionedRow, context: MoveContext): Moved {
  const { facts } = context
  const hasDied = row.claim !== null
  const died = hasDied ? leave(row, { state: 'unknown', reason: null }) : []
  const end = (state: EndState | null): Moved => {
    const left = hasDied ? died : leave(row, { state: 'skipped', reason: 'ended' })
    return { ...nothing(row), place: { kind: 'end', state }, left }
  }
  if (facts.state !== 'active') return end(null)
  if (facts.status === 'archived') return end('stopped')
  if (isGoalReached(facts)) return end('converted')
  const isSettled = row.settled || hasDied
  if (facts.status !== 'published') return { ...nothing(row), place: { kind: 'held', isSettled }, left: died }
  return walk(row, context, { isSettled, left: died })
}

const nothing = (row: VersionedRow): Omit<Moved, 'place'> => ({ row, left: [], made: [], rechecked: [] })

const leave = ({ messageId }: VersionedRow, as: Omit<LeftMessage, 'messageId'>): LeftMessage[] =>
  messageId === null ? [] : [{ messageId, ...as }]

/** Saves settle goals themselves. This catches goals that a save could not see. */
function isGoalReached(facts: MoveFacts): boolean {
  const lastAt = lastGoalOf(facts)
  return lastAt !== null && lastAt >= facts.enrolledAt
}

function lastGoalOf({ goal, times, goalTime, hasGoalConditions }: MoveFacts): number | null {
  if (goal === null) return null
  return hasGoalConditions ? goalTime : (times[goal]?.[1] ?? null)
}

function walk(
  row: VersionedRow,
  context: MoveContext,
  { isSettled, left: died }: { isSettled: boolean; left: LeftMessage[] },
): Moved {
  const { facts } = context
  const moved = { ...nothing(row), left: [...died] }
  const here: Position = { stepId: row.step, since: row.beganAt, isFirst: !row.waited }
  let from: Position | { done: Position } = isSettled ? { done: here } : here
  for (;;) {
    const action = nextAction(row, context, from)
    if (action.kind !== 'send') return { ...moved, place: placeOf(action, facts) }
    const { position } = action
    const known = !isSettled && position.stepId === row.step && 'since' in from ? facts.message : null
    const place = known !== null && known.state !== 'claimed' ? null : send(row, context, action, known, moved)
    if (place !== null) return { ...moved, place }
    from = { done: position }
  }
}

function nextAction(row: VersionedRow, { facts, testRule, now }: MoveContext, from: Position | { done: Position }) {
  return advance({
    definition: row.of.definition,
    contactId: row.contactId,
    position: from,
    now,
    facts: {
      testRule: (rule, stepId) => (testRule === undefined ? false : testRule(rule, stepId)),
      awaitedEventAt: (step, since) => awaitedAt(row, facts, step, since),
      timezone: () => zoneOf(facts),
    },
  })
}

function placeOf(action: Exclude<Action, { kind: 'send' }>, facts: MoveFacts): Place {
  switch (action.kind) {
    case 'stay':
      return { kind: 'end', state: null }
    case 'finish':
      return { kind: 'end', state: 'finished' }
    case 'wait': {
      const { position, dueAt, listensFor } = action
      return { kind: 'at', position, dueAt, listensFor: listensFor && listensForOf(listensFor, facts), heldBy: null }
    }
    case 'ask':
      return { kind: 'asks', position: action.position }
    case 'update':
      return { kind: 'updates', position: action.position, step: action.step }
  }
}

/** Null: nothing is sent, and the enrolment continues. */
function send(
  row: VersionedRow,
  { facts, isSuppressed, topicOf, takeTurn, newId, now }: MoveContext,
  { position, step, isImmediate }: { position: Position; step: SendStep; isImmediate: boolean },
  known: MoveFacts['message'],
  { left, made, rechecked }: Omit<Moved, 'row' | 'place'>,
): Place | null {
  const { channel } = step
  const address = addressOf(channel, facts, (one) => isSuppressed(row.businessId, channel, one))
  const consent = channel === 'webhook' ? undefined : facts.subscriptions[channel satisfies Channel]
  const topic = topicOf(step)
  const sentAt = facts.sends.flatMap(([by, at]) => (by === channel ? [at] : []))
  const zone = zoneOf(facts)
  // The digits of a phone, as contacts store it.
  const digits = address?.replace(/^\+/, '') ?? null
  const isRefused = digits !== null && isSuppressed(row.businessId, channel, digits)
  const asked: ClaimFacts['send'] = {
    step,
    definition: row.rules,
    contactId: row.contactId,
    campaignId: row.campaignId,
    isImmediate,
    now,
    zone,
    hasOptIn: consent?.subscribed ?? false,
    topic,
    address,
    isSuppressed: isRefused,
    sentAt,
  }
  const verdict = decideSend(asked)
  if (verdict.kind === 'wait') {
    const held = verdict.isCap ? { ...position, isFirst: false } : position
    return { kind: 'at', position: held, dueAt: verdict.until, listensFor: null, heldBy: heldBy(asked, verdict.isCap) }
  }
  const isQueued = row.heldBy?.type === 'per_second'
  const own = known === null ? { ...row, boundTo: null } : row
  const turn = verdict.kind === 'send' ? takeTurn(own, { step, isQueued, now }) : null
  if (turn?.kind === 'held') {
    const { held } = turn
    const isFirst = position.isFirst && held.until - position.since <= IMMEDIATE_MS
    return { kind: 'at', position: { ...position, isFirst }, dueAt: held.until, listensFor: null, heldBy: held.heldBy }
  }
  const reason = verdict.kind === 'skip' ? verdict.reason : null
  const messageId = known?.id ?? newId()
  const recipient = address ?? null
  const sender = turn?.sender ?? null
  const checked = checkedSend({
    send: asked,
    dueAt: row.dueAt,
    waited: { stepId: row.step, since: row.beganAt, heldBy: row.heldBy },
    ...(facts.key !== null && { key: facts.key }),
    goal: facts.goal,
    goalLastAt: lastGoalOf(facts),
    consent: consent ?? null,
    ...(topic && { topic }),
  })
  if (known === null)
    made.push({ messageId, step, recipient, state: reason === null ? 'claimed' : 'skipped', reason, sender, checked })
  else rechecked.push({ messageId, recipient, sender, checked })
  if (known !== null && reason !== null) left.push({ messageId, state: 'skipped', reason })
  if (sender === null) return null
  return { kind: 'sends', position, sending: { messageId, step, recipient, sender, topic: topic?.key ?? null } }
}

/** When a channel limit delays a first message, quiet hours apply to it, too. */
const IMMEDIATE_MS = 60_000

const zoneOf = ({ zone, businessZone }: MoveFacts): string => knownZone(zone, businessZone)

/**
 * Returns the earliest known event dated at or after `since`. Events with conditions are known from when the step has
 * begun.
 */
function awaitedAt(row: VersionedRow, facts: MoveFacts, step: WaitForStep, since: number) {
  const [firstAt, lastAt] = (isConditional(step) ? null : facts.times[step.event]) ?? [-Infinity, -Infinity]
  const counted = firstAt >= since ? firstAt : lastAt >= since ? lastAt : null
  // Another step may begin in the same millisecond.
  const awaited = listensForOf(step, facts) === row.listensFor && since === row.beganAt ? row.awaitedAt : null
  return awaited === null || counted === null ? (awaited ?? counted) : Math.min(awaited, counted)
}
