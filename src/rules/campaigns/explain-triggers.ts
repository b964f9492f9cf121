/** Explains afterwards, from stored data, why events of a contact enrolled it in a campaign, or did not. */
import type { Source } from '../events/facts.ts'
import type { TriggerTest, TriggeringEvent } from './event-trigger.ts'

/** In the order in which they are checked. */
export const NOT_ENTERED = [
  'batch',
  'not_published',
  'paused',
  'archived',
  'where',
  'already_active',
  'entered_once',
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
}

export interface PastCampaign {
  triggerTest: TriggerTest | null
  canEnterAgain: boolean
  /** Oldest first. */
  changes: readonly StatusChange[]
  /** True when there may have been earlier changes. */
  isCut: boolean
  /** Segment changes of the contact, and of contacts that were merged into it. */
  enrolments: readonly PastEnrolment[]
}

export interface TriggerOutcome {
  eventId: string
  entered: boolean
  /** Null: it entered, or the reason is not known. */
  reason: NotEntered | null
}

/** In the order of the events. */
export function explainTriggers(events: readonly PastEvent[], campaign: PastCampaign): TriggerOutcome[] {
  const entered = findEntered(events, campaign)
  return events.map((event) =>
    entered.has(event.eventId)
      ? { eventId: event.eventId, entered: true, reason: null }
      : { eventId: event.eventId, entered: false, reason: reasonOf(event, campaign) },
  )
}

const canTrigger = ({ source, seen }: PastEvent, { triggerTest }: PastCampaign): boolean =>
  source !== 'batch' && (triggerTest?.(seen) ?? true)

/** An enrolment has the instants of its event. Of two such events, it belongs to the one that was recorded first. */
function findEntered(events: readonly PastEvent[], campaign: PastCampaign): ReadonlySet<string> {
  const free = new Map<string, number>()
  for (const { enrolledAt, receivedAt } of campaign.enrolments) {
    const key = `${enrolledAt} ${receivedAt}`
    free.set(key, (free.get(key) ?? 0) + 1)
  }
  const entered = new Set<string>()
  for (const event of events.toSorted((one, other) => (one.eventId < other.eventId ? -1 : 1))) {
    const key = `${Math.min(event.occurredAt, event.receivedAt)} ${event.receivedAt}`
    const left = free.get(key) ?? 0
    if (left === 0 || !canTrigger(event, campaign)) continue
    free.set(key, left - 1)
    entered.add(event.eventId)
  }
  return entered
}

function reasonOf(event: PastEvent, campaign: PastCampaign): NotEntered | null {
  if (event.source === 'batch') return 'batch'
  const status = statusAt(event.receivedAt, campaign)
  if (status !== 'published' && status !== null) return status
  if (!canTrigger(event, campaign)) return 'where'
  const earlier = campaign.enrolments.filter(({ receivedAt }) => receivedAt <= event.receivedAt)
  if (earlier.some(({ endedAt }) => endedAt === null || endedAt >= event.receivedAt)) return 'already_active'
  return earlier.length > 0 && !campaign.canEnterAgain ? 'entered_once' : null
}

/** Null: not known. */
function statusAt(at: number, { changes, isCut }: PastCampaign): StatusChange['status'] | 'not_published' | null {
  const last = changes.findLast((change) => change.at <= at)
  return last?.status ?? (isCut ? null : 'not_published')
}
