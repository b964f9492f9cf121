/** The two visits that attribution uses. */
import type { Touch } from './read-touch.ts'

export interface Touches {
  /** The first visit, whatever its source. */
  first: Touch
  /** The latest visit with a source: a campaign, an ad, another site. */
  latest: Touch | undefined
}

const SAME_VISIT_MS = 30 * 60_000

/** Reloading a landing page, or returning to it, does not begin another visit. */
export function decideTouches(known: Touches | undefined, visit: Touch): Touches {
  const hasSource = visit.referrer ?? visit.utm ?? visit.clickIds
  const isNew = hasSource && !isSameVisit(known?.latest, visit)
  return { first: known?.first ?? visit, latest: isNew ? visit : known?.latest }
}

function isSameVisit(before: Touch | undefined, visit: Touch): boolean {
  if (!before || visit.at - before.at > SAME_VISIT_MS) return false
  return JSON.stringify({ ...before, at: visit.at }) === JSON.stringify(visit)
}
