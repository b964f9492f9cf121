/** Programs that check mail open all links of a message at once. A person does not. */

/** The opening of a link of a message. */
export interface LinkVisit {
  /** Another one for each link of the message. */
  link: string
  /** Epoch ms. */
  at: number
}

export const BURST_MS = 1000

/**
 * Whether something that was done with a message belongs to several links of it that were opened within a second. `link`: null for
 * the opening of the message itself.
 */
export function isBurst({ link, at }: { link: string | null; at: number }, visits: readonly LinkVisit[]): boolean {
  const near = visits.filter((visit) => Math.abs(visit.at - at) <= BURST_MS)
  return new Set([...(link === null ? [] : [link]), ...near.map((visit) => visit.link)]).size > 1
}
