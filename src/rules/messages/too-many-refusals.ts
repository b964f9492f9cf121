/** When a channel is paused: going on to send what is refused because of the sender makes it worse (campaigns, "Channels"). */

/** How far back messages count, in ms: what happened exactly that long ago counts. */
export const REFUSAL_WINDOW_MS = 600_000
/** Of fewer, one refusal would be too many. */
export const LEAST_MESSAGES = 20
const PERCENT = 5

/** Epoch ms. What happened before does not count. `openedAt`: when the channel was last saved or resumed; nothing up to then counts. */
export const countedFrom = (now: number, openedAt: number): number => Math.max(now - REFUSAL_WINDOW_MS, openedAt + 1)

export interface OutcomeCounts {
  /** Whose outcome is known. */
  messages: number
  /** Because of the sender. Providers also report them later: there can be more than `messages`. */
  refused: number
}

/** Of how many messages they were. */
export const allOf = ({ messages, refused }: OutcomeCounts): number => Math.max(messages, refused)

export function areTooMany(counts: OutcomeCounts): boolean {
  const all = allOf(counts)
  return all >= LEAST_MESSAGES && counts.refused * 100 > all * PERCENT
}
