/** What a claim looks at before a message, as it is kept with it: later it says why the message went out at that minute, or why not. */
import { countSends, checkCaps } from './caps.ts'
import { type Cap, type QuietHours, quietHoursOf } from './definition.ts'
import { isHeldOut } from './hold-out.ts'
import { openWindow } from './local-time.ts'
import type { SendRules, SetBy } from './messaging.ts'
import type { MessageChannel } from '../messages/message-channel.ts'
import type { SendFacts } from './decide-send.ts'
import type { MessageKind } from './steps.ts'

/** Instants are epoch ms. */
export interface CheckedSend {
  /** Of the claim. */
  at: number
  /** When the enrolment fell due, and where it had waited until then. `heldBy`: at a step that sends. */
  dueAt: number
  waited: { stepId: string; since: number; heldBy: HeldBy | null }
  kind: MessageKind
  /** Null: the campaign has no goal. */
  goal: string | null
  /** The latest event of the goal that was recorded. */
  goalLastAt: number | null
  isHeldOut: boolean
  /** The latest choice for the channel; null without one. */
  consent: { subscribed: boolean; at: number; method: string } | null
  suppressed: boolean
  zone: string
  quietHours: QuietHours | null
  quietHoursSetBy: SetBy
  /** Quiet hours do not hold the message. */
  isImmediate: boolean
  /** Between which quiet hours it was due; `until` null: there are none. Null: they did not matter. */
  window: { from: number; until: number | null } | null
  /** Those of the channel. `counted`: the messages that counted. */
  caps: (Cap & { setBy: SetBy; counted: number })[]
}

export interface ClaimFacts extends Pick<CheckedSend, 'dueAt' | 'waited' | 'goal' | 'goalLastAt' | 'consent'> {
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

/** What holds an enrolment at a step that sends. */
export type HeldBy =
  | ({ type: 'quiet_hours' } & QuietHours)
  | ({ type: 'cap' } & Pick<Cap, 'channel' | 'atMost' | 'days'>)
  | { type: 'per_second'; channel: MessageChannel; perSecond: number }
  | { type: 'daily_budget'; channel: MessageChannel; dailyBudget: number }
  | { type: 'channel_paused'; channel: MessageChannel }

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
