/** The facts of a contact that rules read. */
import type { Channel, IdentityKind, Profile } from '../../events/facts.ts'
import type { TraitEntry } from '../../events/traits.ts'
import type { TopicChannel, TopicChoices } from '../../topics/topic.ts'
import type { ContactIdentity, Statistic, StoredConsent } from '../../contact-parts.ts'

/** A contact as rules see it. Only the facts that the segments of its business read are filled. */
export interface SegmentFacts {
  /** Epoch ms. */
  createdAt: number
  /** Index into STAGES. */
  stage: number
  profile: Profile
  identities: ContactIdentity[]
  subscriptions: Partial<Record<Channel, StoredConsent>>
  topics: TopicChoices
  orderCount: number
  /** By event name. Without an entry, the event never happened. */
  statistics: ReadonlyMap<string, Statistic>
  /** By key of the custom field. Without an entry, or with JSON null, the field is undefined. */
  traits: ReadonlyMap<string, TraitEntry>
  tags: ReadonlySet<string>
  /** Decimal strings by currency. Without an entry, nothing was ever counted in the currency. */
  revenue: ReadonlyMap<string, string>
  /**
   * Counts and sums as decimal strings, by key of the windowed condition (`windowKey`). Without an entry, the value is
   * undefined.
   */
  windows: ReadonlyMap<string, string>
}

/**
 * A fact of a contact that rules read and events change: `event:purchase`, `field:plan`, `tag:vip`, `profile:country`,
 * `identity:email`, `subscription:sms`, `topic:news email`, `revenue:EUR`, `orders`, `stage`, `createdAt`, `window:KEY`.
 */
export type FactKey =
  | `event:${string}`
  | `field:${string}`
  | `tag:${string}`
  | `profile:${keyof Profile}`
  | `identity:${IdentityKind}`
  | `subscription:${Channel}`
  | `topic:${TopicChannel}`
  | `revenue:${string}`
  | `window:${string}`
  | 'orders'
  | 'stage'
  | 'createdAt'

/**
 * The fact that determines when time changes an answer: the first or last time of an event, a custom field, the
 * creation.
 */
export type TimeKey = `first:${string}` | `last:${string}` | `field:${string}` | 'createdAt'
