import type { MessageChannel } from '../messages/message-channel.ts'
import type { Cap } from './definition.ts'

const DAY_MS = 86_400_000

/** `wait`: the caps allow it at `until` (epoch ms), unless there are more sends meanwhile. */
export type CapVerdict = { kind: 'allowed' } | { kind: 'wait'; until: number; cap: Cap } | { kind: 'skip'; cap: Cap }

/** How far back `judgeCaps` looks for the sends of a channel, in milliseconds. 0: no cap limits it. */
export const longestWindow = (caps: readonly Cap[], channel: MessageChannel): number =>
  Math.max(0, ...caps.filter((cap) => cap.channel === channel).map(windowOf))

/**
 * Whether one more send by a channel keeps the caps at the instant `now`. A send counts for `days` days, and no longer at the
 * very instant at which these end. A cap that skips comes before those that wait.
 * @param sentAt the instants (epoch ms) of the contact's sends by this channel, in any order
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

/** How many of the sends of the cap's channel count at an instant. */
export const countSends = (cap: Cap, sentAt: readonly number[], now: number): number =>
  countedBy(cap, sentAt, now).length

function countedBy(cap: Cap, sentAt: readonly number[], now: number): number[] {
  const window = windowOf(cap)
  return sentAt.filter((at) => at + window > now)
}

/** The instant at which fewer than `atMost` of the sends count. Null: that is so now. */
function reachedUntil(cap: Cap, sentAt: readonly number[], now: number): number | null {
  const window = windowOf(cap)
  const counted = countedBy(cap, sentAt, now).sort((one, other) => one - other)
  const last = counted[counted.length - cap.atMost]
  return last === undefined ? null : last + window
}

/** A whole millisecond at least. */
const windowOf = ({ days }: Cap): number => Math.ceil(days * DAY_MS)
