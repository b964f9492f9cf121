/** The person of a simulation: a contact of the business, or a fictitious one. */
import { type TopicChoices, type TopicRules, topicChannel } from '../../rules/topics/topic.ts'
import type { MessageContact } from '../../messages/templates/values.ts'
import type { CountedSend } from '../../rules/campaigns/follow-enrolment.ts'
import type { ContactIdentity } from '../../rules/contact-parts.ts'
import { CHANNELS, type Identity, type Profile, type Subscriptions } from '../../rules/events/facts.ts'
import { STAGES } from '../../rules/events/journey-stage.ts'
import type { TraitEntry } from '../../rules/events/traits.ts'
import type { SegmentFacts } from '../../rules/segments/membership/facts.ts'
import { UNKNOWN_CONTACT } from '../../messages/templates/contact-values.ts'

export interface Person {
  /** The key of splits and hold-outs. */
  contactId: string
  /** Values for templates. */
  values: MessageContact
  /** Facts for rules. */
  facts: SegmentFacts
  subscriptions: Subscriptions
  /**
   * Addresses as contacts store them: emails in lower case, and the E.164 digits of phones, each with the primary one
   * first.
   */
  emails: string[]
  phones: string[]
  /** Whether a browser of the contact accepts push messages. Null: not needed. */
  hasPush: boolean | null
  sent: readonly CountedSend[]
}

/** The caller's data of a fictitious contact, already parsed: see `readIdentity`, `readProfile` and `readTraits`. */
export interface MadeUp {
  profile: Profile
  identity: Identity
  tags: readonly string[]
  customFields: Record<string, string | number | boolean>
  /** An absent channel has an opt-in. */
  subscriptions: Subscriptions
}

/**
 * A contact created at `from` (epoch milliseconds), without any history. The same addresses always go the same way at a
 * split. It has chosen every topic.
 */
export function makeUpPerson(
  { profile, identity, ...sent }: MadeUp,
  { from, topics }: { from: number; topics: ReadonlyMap<string, Pick<TopicRules, 'channels'>> },
): Person {
  const { email = null, phone = null, phoneRead = false } = identity
  const subscriptions = { ...Object.fromEntries(CHANNELS.map((channel) => [channel, true])), ...sent.subscriptions }
  const shownPhone = phone !== null && phoneRead ? `+${phone}` : phone
  return {
    contactId: email ?? phone ?? 'made up',
    values: {
      ...UNKNOWN_CONTACT,
      ...profile,
      email,
      phone: shownPhone,
      stage: STAGES[0],
      customFields: sent.customFields,
    },
    facts: {
      createdAt: from,
      stage: 0,
      profile,
      identities: identitiesOf({ email, phone }),
      subscriptions: Object.fromEntries(
        Object.entries(subscriptions).map(([channel, subscribed]) => [channel, { subscribed, at: from }]),
      ),
      topics: chooseAll(topics, from),
      orderCount: 0,
      statistics: new Map(),
      traits: new Map(
        Object.entries(sent.customFields).map(([key, value]): [string, TraitEntry] => [
          key,
          [from, JSON.stringify(value)],
        ]),
      ),
      tags: new Set(sent.tags),
      revenue: new Map(),
      windows: new Map(),
    },
    subscriptions,
    emails: email === null ? [] : [email],
    phones: phone !== null && phoneRead ? [phone] : [],
    hasPush: null,
    sent: [],
  }
}

const identitiesOf = (sent: { email: string | null; phone: string | null }): ContactIdentity[] =>
  (['email', 'phone'] as const).flatMap((kind) => {
    const value = sent[kind]
    return value === null ? [] : [{ kind, value, proven: true }]
  })

const chooseAll = (topics: ReadonlyMap<string, Pick<TopicRules, 'channels'>>, at: number): TopicChoices =>
  Object.fromEntries(
    [...topics].flatMap(([key, { channels }]) =>
      channels.map((channel) => [topicChannel(key, channel), { subscribed: true, at }]),
    ),
  )
