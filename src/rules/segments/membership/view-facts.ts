import type { ContactState } from '../../state.ts'
import type { SegmentFacts } from './facts.ts'
import type { WatchedFacts } from './watched-facts.ts'

/** Returns the contact as rules see it now. A later change of the contact may require a new view. */
export function viewFacts(contact: ContactState, facts: WatchedFacts): SegmentFacts {
  const { createdAt, profile, identities, subscriptions, topics } = contact
  const { stage, orderCount, statistics, traits, tags, revenue, windows } = facts
  return {
    createdAt,
    stage,
    profile,
    identities,
    subscriptions,
    topics,
    orderCount,
    statistics,
    traits,
    tags,
    revenue,
    windows,
  }
}
