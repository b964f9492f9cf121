/**
 * When a channel is paused: sending more messages that are refused because of the sender would make it worse
 * (campaigns, "Channels").
 */

/** How far back messages count, in milliseconds, inclusive. */
export const REFUSAL_WINDOW_MS = 600_000
/** With fewer messages, a single refusal would be too many. */
export const LEAST_MESSAGES = 20
const PERCENT = 5

/**
 * Returns the instant from which messages count, in epoch ms. `openedAt`: when the channel was last saved or resumed;
 * messages up to then do not count.
 */
export const countedFrom = (now: number, openedAt: number): number => Math.max(now - REFUSAL_WINDOW_MS, openedAt + 1)

export interface OutcomeCounts {
  /** Number of messages with a known outcome. */
  messages: number
  /**
   * Number refused because of the sender. Providers also report refusals later, so there can be more than `messages`.
   */
  refused: number
}

/** Returns the number of messages that the refusals are compared with. */
export const allOf = ({ messages, refused }: OutcomeCounts): number => Math.max(messages, refused)

export function areTooMany(counts: OutcomeCounts): boolean {
  const all = allOf(counts)
  return all >= LEAST_MESSAGES && counts.refused * 100 > all * PERCENT
}
