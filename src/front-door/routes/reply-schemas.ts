/** The `data` of each answer, for the OpenAPI description; the contract tests hold the answers to it. */
import { type TSchema, Type } from '@sinclair/typebox'
import { MAX_VISITORS } from '../../contacts/read-contact.ts'
import { CLICK_IDS, EVENT_TYPES, FIELD_TYPES, UTM_FIELDS } from '../../rules/events/facts.ts'
import { STAGES } from '../../rules/events/journey-stage.ts'
import { ATTRIBUTION_MODELS, MAX_ATTRIBUTION_ROWS, TOUCH_CHANNELS } from '../../timeline/read-attribution.ts'

const closed = { additionalProperties: false }
const oneOf = (values: readonly string[]) => Type.Union(values.map((value) => Type.Literal(value)))
const orNull = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()])
const id = Type.String({ format: 'uuid' })
const instant = Type.String({ format: 'date-time' })
const count = Type.Integer({ minimum: 0 })
const warnings = Type.Optional(
  Type.Array(Type.String(), { description: 'Advisory: the request succeeded. Absent when there is nothing to say.' }),
)
const failures = Type.Array(Type.Object({ index: count, error: Type.String() }, closed))
const interpreted = Type.Object(
  { type: oneOf([...EVENT_TYPES, 'none']), countedRevenue: Type.Number() },
  { ...closed, description: 'What the event counts as, and the revenue that it adds.' },
)
const subscriptions = Type.Object(
  { email: Type.Boolean(), sms: Type.Boolean(), whatsapp: Type.Boolean(), push: Type.Boolean() },
  closed,
)

export const TrackData = Type.Object(
  { contactId: id, event: Type.String(), isNew: Type.Boolean(), deduped: Type.Boolean(), interpreted, warnings },
  closed,
)
export const ignoredBot = Type.Optional(
  Type.Literal('bot', {
    description: 'Nothing was recorded: the `User-Agent` is that of a bot or a headless browser.',
  }),
)
export const BrowserTrackData = Type.Object(
  {
    contactId: orNull(id),
    event: Type.String(),
    isNew: Type.Boolean(),
    deduped: Type.Boolean(),
    interpreted,
    ignored: ignoredBot,
    warnings,
  },
  closed,
)
export const QueuedTrackData = Type.Object({ queued: Type.Literal(true), event: Type.String(), interpreted }, closed)
export const BatchData = Type.Object(
  { received: count, recorded: count, deduped: count, failed: count, failures, warnings },
  closed,
)
export const QueuedBatchData = Type.Object(
  { queued: Type.Literal(true), received: count, failed: Type.Optional(count), failures: Type.Optional(failures) },
  closed,
)
export const IdentifyData = Type.Object(
  { contactId: id, isNew: Type.Boolean(), linkedVisitor: Type.Boolean(), subscriptions, warnings },
  closed,
)
export const QueuedData = Type.Object({ queued: Type.Literal(true) }, closed)

const words = (names: readonly string[]) =>
  Type.Optional(Type.Object(Object.fromEntries(names.map((name) => [name, Type.Optional(Type.String())])), closed))
const Touch = Type.Object(
  {
    at: instant,
    url: Type.String(),
    referrer: Type.Optional(Type.String()),
    utm: words(UTM_FIELDS),
    clickIds: words(CLICK_IDS),
  },
  closed,
)

const profileText = orNull(Type.String())
const Contact = Type.Object(
  {
    contactId: id,
    firstName: profileText,
    lastName: profileText,
    country: profileText,
    city: profileText,
    language: profileText,
    timezone: profileText,
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
      { ...closed, description: 'Primary first. Those that only pages have sent come last.' },
    ),
    events: Type.Array(Type.Object({ event: Type.String(), firstAt: instant, lastAt: instant, count }, closed)),
    subscriptions,
    visitorIds: Type.Array(Type.String(), { description: `Of the newest ${MAX_VISITORS} browsers, oldest first.` }),
    visitors: Type.Array(
      Type.Object(
        {
          visitorId: Type.String(),
          firstSeenAt: orNull(instant),
          lastSeenAt: orNull(instant),
          firstTouch: orNull(Touch),
          latestTouch: orNull(Touch),
        },
        { ...closed, description: 'Null until a page with the tag has reported the browser.' },
      ),
      { description: 'The browsers of `visitorIds`.' },
    ),
    enrolments: Type.Array(
      Type.Object(
        {
          campaignId: id,
          state: oneOf(['active', 'finished', 'converted', 'stopped', 'merged']),
          enrolledAt: instant,
          endedAt: orNull(instant),
        },
        closed,
      ),
    ),
    createdAt: instant,
    mergedFrom: Type.Array(id),
    engagement: orNull(
      Type.Object(
        {
          score: Type.Integer({ minimum: 0, maximum: 100 }),
          lastActiveAt: orNull(instant),
        },
        { ...closed, description: 'As of now; null when ClickHouse does not answer within 300 ms.' },
      ),
    ),
  },
  closed,
)
export const ContactData = Type.Object({ contact: Contact }, closed)
const nextCursor = orNull(Type.String({ description: 'For the next page.' }))
export const EditedData = Type.Object({ contact: Contact, warnings }, closed)
export const ContactsData = Type.Object({ contacts: Type.Array(Contact, { maxItems: 1 }) }, closed)
const ListedContact = Type.Pick(
  Contact,
  [
    'contactId',
    'firstName',
    'lastName',
    'country',
    'city',
    'language',
    'timezone',
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

const TimelineEvent = Type.Object(
  {
    eventId: id,
    event: Type.String(),
    occurredAt: instant,
    receivedAt: instant,
    type: oneOf([...EVENT_TYPES, 'none']),
    value: orNull(Type.Number()),
    currency: orNull(Type.String()),
    countedRevenue: Type.Number(),
    properties: Type.Unknown(),
    source: oneOf(['live', 'batch', 'browser']),
    idempotencyKey: orNull(Type.String()),
    visitorId: orNull(Type.String()),
  },
  closed,
)
export const TimelineData = Type.Object({ events: Type.Array(TimelineEvent), nextCursor }, closed)
export const IdentificationsData = Type.Object(
  {
    identifications: Type.Array(
      Type.Object(
        {
          identifiedAt: instant,
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
export const SubscriptionsData = Type.Object({ contactId: id, subscriptions }, closed)
export const ErasedData = Type.Object({ contactId: id }, closed)
export const CustomFieldsData = Type.Object(
  {
    customFields: Type.Array(Type.Object({ key: Type.String(), type: oneOf(FIELD_TYPES), createdAt: instant }, closed)),
  },
  closed,
)

const AttributionRow = Type.Object(
  {
    channel: oneOf(TOUCH_CHANNELS),
    source: Type.String(),
    medium: Type.String(),
    campaign: Type.String(),
    currency: orNull(Type.String({ description: 'Null for orders without an amount.' })),
    revenue: Type.Number({ description: 'Net of refunds.' }),
    refunds: Type.Number({ minimum: 0 }),
    orders: count,
    contacts: Type.Integer({ minimum: 0, description: 'How many contacts bought.' }),
  },
  { ...closed, description: 'A value that is not known is empty.' },
)
export const AttributionData = Type.Object(
  {
    model: oneOf(ATTRIBUTION_MODELS),
    from: instant,
    to: instant,
    rows: Type.Array(AttributionRow, { maxItems: MAX_ATTRIBUTION_ROWS, description: 'Most revenue first.' }),
    truncated: Type.Boolean({ description: 'There are more rows.' }),
  },
  closed,
)

const event = Type.Object({ event: Type.String() }, closed)
const Campaign = Type.Object(
  {
    campaignId: id,
    name: Type.String(),
    status: oneOf(['draft', 'published']),
    trigger: event,
    canEnterAgain: Type.Boolean(),
    goal: orNull(event),
  },
  closed,
)
export const CampaignData = Type.Object({ campaign: Campaign }, closed)
export const CampaignsData = Type.Object({ campaigns: Type.Array(Campaign) }, closed)
