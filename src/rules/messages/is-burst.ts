/** Programs that check mail open all links of a message at once. People do not. */

/** A visit of a link in a message. */
export interface LinkVisit {
  /** Identifies the link within the message. */
  link: string
  /** Epoch ms. */
  at: number
}

export const BURST_MS = 1000

/**
 * Returns whether an action on a message belongs to a burst: several links of the message were opened within a second.
 * `link`: null when the message itself was opened.
 */
export function isBurst({ link, at }: { link: string | null; at: number }, visits: readonly LinkVisit[]): boolean {
  const near = visits.filter((visit) => Math.abs(visit.at - at) <= BURST_MS)
  return new Set([...(link === null ? [] : [link]), ...near.map((visit) => visit.link)]).size > 1
}
