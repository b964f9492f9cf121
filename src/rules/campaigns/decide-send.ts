/** Decides whether a message is sent now: a pure function of the data that the claim has read. */
import { type CapVerdict, checkCaps } from './caps.ts'
import { type Definition, quietHoursOf } from './definition.ts'
import { isHeldOut } from './hold-out.ts'
import { openWindow } from './local-time.ts'
import type { SendStep } from './steps.ts'
import type { SkipReason } from '../messages/message-reasons.ts'

export interface SendFacts {
  step: SendStep
  definition: Pick<Definition, 'holdOut' | 'quietHours' | 'caps'>
  contactId: string
  campaignId: string
  /** True when quiet hours do not delay it. */
  isImmediate: boolean
  now: number
  zone: string
  /** Caps of the channel. */
  hasOptIn: boolean
  /** Absent or null: the message has none. */
  topic?: { subscribed: boolean } | null
  /** Null: the contact has none. Undefined: the channel has no addresses. */
  address: string | null | undefined
  isSuppressed: boolean
  /** Instants of the contact's messages of this channel (epoch milliseconds), in any order. */
  sentAt: readonly number[]
}

export type SendVerdict =
  | { kind: 'send' }
  | { kind: 'skip'; reason: SkipReason }
  /** `isCap`: quiet hours apply from `until` on (epoch milliseconds), too. */
  | { kind: 'wait'; until: number; isCap: boolean }

export function decideSend(facts: SendFacts): SendVerdict {
  const { step, definition, contactId, campaignId } = facts
  const isMarketing = step.kind === 'marketing'
  if (isMarketing && isHeldOut({ contactId, campaignId, holdOut: definition.holdOut })) return skip('held_out')
  // A webhook goes to the business itself.
  if (isMarketing && step.channel !== 'webhook' && !facts.hasOptIn) return skip('no_opt_in')
  if (isMarketing && facts.topic?.subscribed === false) return skip('no_topic')
  if (facts.address === null) return skip('no_address')
  if (facts.isSuppressed) return skip('suppressed')
  return isMarketing ? judgeTime(facts) : { kind: 'send' }
}

const skip = (reason: SkipReason): SendVerdict => ({ kind: 'skip', reason })

function judgeTime({ step, definition, isImmediate, now, zone, sentAt }: SendFacts): SendVerdict {
  const opensAt = isImmediate ? now : openWindow(now, quietHoursOf(definition), zone).from
  if (opensAt > now) return { kind: 'wait', until: opensAt, isCap: false }
  const verdict: CapVerdict = checkCaps(definition.caps, { channel: step.channel, sentAt, now })
  if (verdict.kind === 'skip') return skip('cap')
  return verdict.kind === 'wait' ? { kind: 'wait', until: verdict.until, isCap: true } : { kind: 'send' }
}
