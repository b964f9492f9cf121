/** When a sender counts as unreachable. */

/** How far back tries count, in milliseconds, inclusive. */
export const TRIES_WINDOW_MS = 300_000
const LEAST_TRIES = 3

/** Returns the instant from which tries count, in epoch ms. `openedAt`: when the sender was last saved or resumed. */
export const triesFrom = (now: number, openedAt: number): number => Math.max(now - TRIES_WINDOW_MS, openedAt + 1)

export interface TryCounts {
  /** Tries without a connection. */
  unreached: number
  /** Tries with one, whatever became of the message. */
  reached: number
}

export const isOutOfReach = ({ unreached, reached }: TryCounts): boolean => reached === 0 && unreached >= LEAST_TRIES
