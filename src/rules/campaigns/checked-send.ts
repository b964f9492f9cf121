/**
 * What a claim checked before a message. It is stored with the message, and explains later why the message was sent at
 * that minute, or why not.
 */
import { countSends, checkCaps } from './caps.ts'
import { type Cap, type QuietHours, quietHoursOf } from './definition.ts'
import { isHeldOut } from './hold-out.ts'
import { openWindow } from './local-time.ts'
import type { SendRules, SetBy } from './messaging.ts'
import type { MessageChannel } from '../messages/message-channel.ts'
import type { CheckedTopic } from '../topics/topic-of-send.ts'
import type { SendFacts } from './decide-send.ts'
import type { MessageKind } from './steps.ts'

/** Instants are epoch milliseconds. */
export interface CheckedSend {
  /** Instant of the claim. */
  at: number
  /** When the enrolment became due, and what had delayed it until then. `heldBy`: at a step that sends. */
  dueAt: number
  waited: { stepId: string; since: number; heldBy: HeldBy | null }
  kind: MessageKind
  /** Of the enrolment. Absent: it has none. */
  key?: string
  /** Null: the campaign has no goal. */
  goal: string | null
  /** The latest recorded event of the goal. With conditions: the latest one that meets them. */
  goalLastAt: number | null
  isHeldOut: boolean
  /** The latest choice for the channel; null without one. */
  consent: { subscribed: boolean; at: number; method: string } | null
  /** Absent: the message has none. */
  topic?: CheckedTopic
  suppressed: boolean
  zone: string
  quietHours: QuietHours | null
  quietHoursSetBy: SetBy
  /** True when quiet hours do not delay the message. */
  isImmediate: boolean
  /** The window between quiet hours in which it was due; `until` null: there are none. Null: they did not apply. */
  window: { from: number; until: number | null } | null
  /** Caps of the channel. `counted`: the messages that counted. */
  caps: (Cap & { setBy: SetBy; counted: number })[]
}

export interface ClaimFacts extends Pick<
  CheckedSend,
  'dueAt' | 'waited' | 'key' | 'goal' | 'goalLastAt' | 'consent' | 'topic'
> {
  send: Omit<SendFacts, 'definition'> & { definition: SendRules }
}

export function checkedSend({ send, ...facts }: ClaimFacts): CheckedSend {
  const { step, definition, now, zone, isImmediate, sentAt, isSuppressed } = send
  const isMarketing = step.kind === 'marketing'
  const quietHours = quietHoursOf(definition)
  const caps = isMarketing ? definition.caps.filter(({ channel }) => channel === step.channel) : []
  return {
    ...facts,
    at: now,
    kind: step.kind,
    isHeldOut: isMarketing && isHeldOut({ ...send, holdOut: definition.holdOut }),
    suppressed: isSuppressed,
    zone,
    quietHours,
    quietHoursSetBy: definition.quietHoursSetBy,
    isImmediate,
    window: isImmediate ? null : openWindow(now, quietHours, zone),
    caps: caps.map((cap) => ({ ...cap, counted: countSends(cap, sentAt, now) })),
  }
}

/** The reason for the delay of an enrolment at a step that sends. */
export type HeldBy =
  | ({ type: 'quiet_hours' } & QuietHours)
  | ({ type: 'cap' } & Pick<Cap, 'channel' | 'atMost' | 'days'>)
  | ({ type: 'per_second'; perSecond: number } & HoldingSender)
  | ({ type: 'daily_budget'; dailyBudget: number } & HoldingSender)
  | ({ type: 'channel_paused' } & HoldingSender)

/** `sender`: absent for the sender `default`. `insteadOf`: the sender whose fallback it is. */
interface HoldingSender {
  channel: MessageChannel
  sender?: string
  insteadOf?: string
}

/** For a message that has to wait. */
export function heldBy({ definition, step, sentAt, now }: SendFacts, isCap: boolean): HeldBy | null {
  if (!isCap) {
    const hours = quietHoursOf(definition)
    return hours && { type: 'quiet_hours', ...hours }
  }
  const verdict = checkCaps(definition.caps, { channel: step.channel, sentAt, now })
  if (verdict.kind !== 'wait') return null
  const { channel, atMost, days } = verdict.cap
  return { type: 'cap', channel, atMost, days }
}
