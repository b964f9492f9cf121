/** Explains afterwards, from stored data, why events of a contact enrolled it in a campaign, or did not. */
import type { Source } from '../events/facts.ts'
import { MAX_ACTIVE_IN_CAMPAIGN, MAX_ACTIVE_WITH_KEYS } from '../limits.ts'
import type { KeyReader } from './enrolment-key.ts'
import { type CompiledCondition, fitOf } from './event-condition.ts'
import type { TriggerTest, TriggeringEvent } from './event-trigger.ts'

/** In the order in which they are checked. */
export const NOT_ENTERED = [
  'batch',
  'not_published',
  'paused',
  'archived',
  'where',
  'no_key',
  'goal',
  'already_active',
  'entered_once',
  'too_many_active',
] as const
export type NotEntered = (typeof NOT_ENTERED)[number]

/** `at`: epoch milliseconds. The status holds until the next change. */
export interface StatusChange {
  status: 'published' | 'paused' | 'archived'
  at: number
}

/** An event of the trigger's name. Instants are epoch milliseconds. */
export interface PastEvent {
  eventId: string
  occurredAt: number
  receivedAt: number
  source: Source
  seen: TriggeringEvent
}

/** An enrolment in the campaign. Instants are epoch milliseconds. */
export interface PastEnrolment {
  enrolledAt: number
  receivedAt: number
  endedAt: number | null
  key: string | null
}

export interface PastCampaign {
  triggerTest: TriggerTest | null
  /** Null: the campaign enrols once for each contact. */
  readKey: KeyReader | null
  /** Of a goal with the trigger's event: an event that meets it enrols nobody. Null: it has another one. */
  ownGoal: CompiledCondition | null
  canEnterAgain: boolean
  /** Oldest first. */
  changes: readonly StatusChange[]
  /** True when there may have been earlier changes. */
  isCut: boolean
  /** Segment changes of the contact, and of contacts that were merged into it. */
  enrolments: readonly PastEnrolment[]
  /** Enrolments with keys in other campaigns that were active. */
  elsewhere: readonly PastEnrolment[]
}

export interface TriggerOutcome {
  eventId: string
  /** Null: the campaign enrols once for each contact, or the event has no key. */
  key: string | null
  entered: boolean
  /** Null: it entered, or the reason is not known. */
  reason: NotEntered | null
}

/** In the order of the events. */
export function explainTriggers(events: readonly PastEvent[], campaign: PastCampaign): TriggerOutcome[] {
  const entered = findEntered(events, campaign)
  return events.map((event) => {
    const { eventId } = event
    const key = keyOf(event, campaign)
    if (entered.has(eventId)) return { eventId, key, entered: true, reason: null }
    return { eventId, key, entered: false, reason: reasonOf(event, campaign) }
  })
}

const keyOf = ({ seen }: PastEvent, { readKey }: PastCampaign): string | null => readKey?.(seen.properties()) ?? null

const fits = ({ seen }: PastEvent, { triggerTest }: PastCampaign): boolean => triggerTest?.(seen) ?? true

const isGoal = ({ seen }: PastEvent, { ownGoal }: PastCampaign): boolean =>
  ownGoal !== null && fitOf(ownGoal, seen) !== null

const canTrigger = (event: PastEvent, campaign: PastCampaign): boolean =>
  event.source !== 'batch' && fits(event, campaign) && !isGoal(event, campaign)

/** An enrolment has the instants and the key of its event. Of two such events, it belongs to the one recorded first. */
function findEntered(events: readonly PastEvent[], campaign: PastCampaign): ReadonlySet<string> {
  const free = new Map<string, number>()
  for (const { enrolledAt, receivedAt, key } of campaign.enrolments) {
    const name = `${enrolledAt} ${receivedAt} ${key ?? ''}`
    free.set(name, (free.get(name) ?? 0) + 1)
  }
  const entered = new Set<string>()
  for (const event of events.toSorted((one, other) => (one.eventId < other.eventId ? -1 : 1))) {
    const { occurredAt, receivedAt } = event
    const name = `${Math.min(occurredAt, receivedAt)} ${receivedAt} ${keyOf(event, campaign) ?? ''}`
    const left = free.get(name) ?? 0
    if (left === 0 || !canTrigger(event, campaign)) continue
    free.set(name, left - 1)
    entered.add(event.eventId)
  }
  return entered
}

function reasonOf(event: PastEvent, campaign: PastCampaign): NotEntered | null {
  if (event.source === 'batch') return 'batch'
  const status = statusAt(event.receivedAt, campaign)
  if (status !== 'published' && status !== null) return status
  if (!fits(event, campaign)) return 'where'
  const key = keyOf(event, campaign)
  if (campaign.readKey !== null && key === null) return 'no_key'
  if (isGoal(event, campaign)) return 'goal'
  const earlier = campaign.enrolments.filter((one) => one.key === key && one.receivedAt <= event.receivedAt)
  if (earlier.some((one) => wasActive(one, event))) return 'already_active'
  if (earlier.length > 0 && !campaign.canEnterAgain) return 'entered_once'
  return key !== null && isCrowded(event, campaign) ? 'too_many_active' : null
}

const wasActive = (one: PastEnrolment, { receivedAt }: PastEvent): boolean =>
  one.receivedAt <= receivedAt && (one.endedAt === null || one.endedAt >= receivedAt)

function isCrowded(event: PastEvent, { enrolments, elsewhere }: PastCampaign): boolean {
  const here = enrolments.filter((one) => wasActive(one, event)).length
  const others = elsewhere.filter((one) => wasActive(one, event)).length
  return here >= MAX_ACTIVE_IN_CAMPAIGN || here + others >= MAX_ACTIVE_WITH_KEYS
}

/** Null: not known. */
function statusAt(at: number, { changes, isCut }: PastCampaign): StatusChange['status'] | 'not_published' | null {
  const last = changes.findLast((change) => change.at <= at)
  return last?.status ?? (isCut ? null : 'not_published')
}
