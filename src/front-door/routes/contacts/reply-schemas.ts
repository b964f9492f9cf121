/** Schemas of the answers of the contact routes. */
import { Type } from '@sinclair/typebox'
import {
  closed,
  oneOf,
  orNull,
  uuid,
  dateTime,
  count,
  warningList,
  subscriptionStates,
  nextCursor,
} from '../reply-fields.ts'
import { ConfirmationData } from './confirmation-schema.ts'
import { MAX_VISITORS } from '../../../contacts/read/read-contact.ts'
import { CHANNELS, CLICK_IDS, PROFILE_FIELDS, UTM_FIELDS } from '../../../rules/events/facts.ts'
import { TimelineEventSchema } from '../../../outbox/timeline-row.ts'
import { TOPIC_KEY } from '../../../rules/topics/topic.ts'
import { STAGES } from '../../../rules/events/journey-stage.ts'

const optionalTexts = (names: readonly string[]) =>
  Type.Optional(Type.Object(Object.fromEntries(names.map((name) => [name, Type.Optional(Type.String())])), closed))

export const Touch = Type.Object(
  {
    at: dateTime,
    url: Type.String(),
    referrer: Type.Optional(Type.String()),
    utm: optionalTexts(UTM_FIELDS),
    clickIds: optionalTexts(CLICK_IDS),
  },
  closed,
)

const topicKey = Type.String({ pattern: TOPIC_KEY.source })
export const TopicStates = Type.Record(
  topicKey,
  Type.Object(
    Object.fromEntries(
      CHANNELS.map((channel) => [
        channel,
        Type.Optional(
          Type.Object(
            {
              subscribed: Type.Boolean(),
              choice: orNull(Type.Boolean()),
              at: orNull(dateTime),
              method: orNull(Type.String()),
            },
            closed,
          ),
        ),
      ]),
    ),
    closed,
  ),
  { description: 'By key and channel. Archived topics are listed where the contact has chosen.' },
)

const topicBooleans = Type.Record(
  topicKey,
  Type.Object(Object.fromEntries(CHANNELS.map((channel) => [channel, Type.Optional(Type.Boolean())])), closed),
  { description: 'By key and channel: the choice, or else the default of the topic.' },
)

const profileTexts = Object.fromEntries(PROFILE_FIELDS.map((field) => [field, orNull(Type.String())]))

export const Contact = Type.Object(
  {
    contactId: uuid,
    ...profileTexts,
    tags: Type.Array(Type.String()),
    customFields: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()])),
    stage: oneOf(STAGES),
    revenue: Type.Object(
      { total: Type.Number(), currency: Type.String(), byCurrency: Type.Record(Type.String(), Type.Number()) },
      closed,
    ),
    orderCount: count,
    identities: Type.Object(
      {
        email: Type.Array(Type.String()),
        phone: Type.Array(Type.String()),
        platformCustomerId: Type.Array(Type.String()),
      },
      { ...closed, description: 'The primary one first. Values that only pages have sent come last.' },
    ),
    events: Type.Array(Type.Object({ event: Type.String(), firstAt: dateTime, lastAt: dateTime, count }, closed)),
    subscriptions: subscriptionStates,
    topics: topicBooleans,
    visitorIds: Type.Array(Type.String(), {
      description: `The ids of the newest ${MAX_VISITORS} browsers, oldest first.`,
    }),
    visitors: Type.Array(
      Type.Object(
        {
          visitorId: Type.String(),
          firstSeenAt: orNull(dateTime),
          lastSeenAt: orNull(dateTime),
          firstTouch: orNull(Touch),
          latestTouch: orNull(Touch),
        },
        { ...closed, description: 'Times and touches are null until a page with the script has reported the browser.' },
      ),
      { description: 'The browsers of `visitorIds`.' },
    ),
    enrolments: Type.Array(
      Type.Object(
        {
          enrolmentId: uuid,
          campaignId: uuid,
          key: orNull(Type.String({ description: 'What it is about, such as an order. Null: the contact.' })),
          state: oneOf(['active', 'finished', 'converted', 'stopped', 'merged']),
          enrolledAt: dateTime,
          endedAt: orNull(dateTime),
        },
        closed,
      ),
    ),
    segments: Type.Array(Type.Object({ segmentId: uuid, name: Type.String(), enteredAt: dateTime }, closed), {
      description: 'Those that the contact is a member of, longest first.',
    }),
    createdAt: dateTime,
    mergedFrom: Type.Array(uuid),
    engagement: orNull(
      Type.Object(
        {
          score: Type.Integer({ minimum: 0, maximum: 100 }),
          lastActiveAt: orNull(dateTime),
        },
        { ...closed, description: 'Computed now; null when ClickHouse does not answer within 300 ms.' },
      ),
    ),
  },
  closed,
)

export const ContactData = Type.Object({ contact: Contact }, closed)

export const EditedData = Type.Object({ contact: Contact, warnings: warningList }, closed)

export const ContactsData = Type.Object({ contacts: Type.Array(Contact, { maxItems: 1 }) }, closed)

const ListedContact = Type.Pick(
  Contact,
  [
    'contactId',
    ...PROFILE_FIELDS,
    'tags',
    'stage',
    'revenue',
    'orderCount',
    'identities',
    'subscriptions',
    'createdAt',
  ],
  closed,
)

export const ContactListData = Type.Object({ contacts: Type.Array(ListedContact), nextCursor }, closed)

export const AnyContactsData = Type.Union([ContactListData, ContactsData])

export const TimelineData = Type.Object({ events: Type.Array(TimelineEventSchema), nextCursor }, closed)

export const IdentificationsData = Type.Object(
  {
    identifications: Type.Array(
      Type.Object(
        {
          identifiedAt: dateTime,
          method: orNull(Type.String()),
          keyed: Type.Boolean(),
          visitorId: orNull(Type.String()),
        },
        closed,
      ),
    ),
    nextCursor,
  },
  closed,
)

export const SubscriptionsData = Type.Object(
  {
    contactId: uuid,
    subscriptions: subscriptionStates,
    confirmation: Type.Optional(ConfirmationData),
  },
  closed,
)

export const ErasedData = Type.Object({ contactId: uuid }, closed)
