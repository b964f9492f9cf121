import type { Changes } from '../../rules/changes.ts'
import type { Sender } from '../../stores/wake-ups.ts'

/** The loops for which these changes make work due at once. */
export function sendersOf({ firstSteps, awaitedEvents, deliveries }: Changes): Sender[] {
  const hasSteps = firstSteps.size > 0 || awaitedEvents.size > 0
  return [...(hasSteps ? ['campaigns' as const] : []), ...(deliveries.length > 0 ? ['deliveries' as const] : [])]
}
