import type { MessageChannel } from '../messages/message-channel.ts'
import type { Cap } from './definition.ts'

const DAY_MS = 86_400_000

/** `wait`: the caps allow it at `until` (epoch milliseconds), unless there are more messages meanwhile. */
export type CapVerdict = { kind: 'allowed' } | { kind: 'wait'; until: number; cap: Cap } | { kind: 'skip'; cap: Cap }

/** Returns how far back `checkCaps` looks for messages of a channel, in milliseconds. 0: no cap limits it. */
export const longestWindow = (caps: readonly Cap[], channel: MessageChannel): number =>
  Math.max(0, ...caps.filter((cap) => cap.channel === channel).map(windowOf))

/**
 * Returns whether the caps allow one more message of a channel at the instant `now`. A message counts for `days` days,
 * and no longer at the instant at which these end. A cap that skips takes precedence over caps that wait.
 * @param sentAt instants (epoch milliseconds) of the contact's messages of this channel, in any order
 */
export function checkCaps(
  caps: readonly Cap[],
  { channel, sentAt, now }: { channel: MessageChannel; sentAt: readonly number[]; now: number },
): CapVerdict {
  let verdict: CapVerdict = { kind: 'allowed' }
  for (const cap of caps) {
    const until = cap.channel === channel ? reachedUntil(cap, sentAt, now) : null
    if (until === null) continue
    if (cap.whenReached === 'skip') return { kind: 'skip', cap }
    if (verdict.kind === 'allowed' || until > verdict.until) verdict = { kind: 'wait', until, cap }
  }
  return verdict
}

/** Number of messages of the cap's channel that count at an instant. */
export const countSends = (cap: Cap, sentAt: readonly number[], now: number): number =>
  countedBy(cap, sentAt, now).length

function countedBy(cap: Cap, sentAt: readonly number[], now: number): number[] {
  const window = windowOf(cap)
  return sentAt.filter((at) => at + window > now)
}

/** The instant at which fewer than `atMost` of the messages count. Null: that is the case now. */
function reachedUntil(cap: Cap, sentAt: readonly number[], now: number): number | null {
  const window = windowOf(cap)
  const counted = countedBy(cap, sentAt, now).sort((one, other) => one - other)
  const last = counted[counted.length - cap.atMost]
  return last === undefined ? null : last + window
}

/** At least one millisecond, in whole milliseconds. */
const windowOf = ({ days }: Cap): number => Math.ceil(days * DAY_MS)
