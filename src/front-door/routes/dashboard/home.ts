/** Reads whether everything works, and what has happened in the last days. */
import { type Static, Type } from '@sinclair/typebox'
import { createTtlCache } from '../../../async/ttl-cache.ts'
import { countNewContacts } from '../../../contacts/read/count-new-contacts.ts'
import { addAmounts, amountToNumber } from '../../../rules/events/money.ts'
import { MESSAGE_CHANNELS, type MessageChannel } from '../../../rules/messages/message-channel.ts'
import { STORES } from '../../../rules/lateness.ts'
import { createDayOf, lastDays } from '../../../rules/local-days.ts'
import { readOutboxLag } from '../../../timeline/shipping/observe-outbox.ts'
import { readDailyEvents } from '../../../timeline/reading/read-daily-events.ts'
import { type DashboardRoute, businessRoute } from '../../access/authenticate-session.ts'
import type { Business } from '../../../businesses/find-business.ts'
import type { Principal } from '../../access/principal.ts'
import { queryStore } from '../../access/query-store.ts'
import type { AppContext, Reply, RequestContext } from '../../app-context.ts'
import { readBacklogs } from '../../health/read-backlogs.ts'
import { OUTCOMES } from '../../../request-log/recorded-request.ts'
import { summariseMinute } from '../../../request-log/summarise-minute.ts'
import { closed, count, oneOf, orNull } from '../reply-fields.ts'
import { MEMBER_ERRORS } from './people/session.ts'

const DAYS = 30
const STATUS = 'The status.'
const SERIES = `The last ${DAYS} days.`

const seconds = (description: string) =>
  orNull(Type.Number({ minimum: 0, description: `${description} Null when a store does not answer.` }))

const StatusData = Type.Object(
  {
    isReady: Type.Boolean({ description: 'Whether requests are accepted and applied.' }),
    lateStores: Type.Array(oneOf(STORES), { description: 'The stores that answer too late.' }),
    reasons: Type.Array(Type.String(), { description: 'What is wrong with the installation. Only for operators.' }),
    backlogSeconds: seconds('Age of the oldest request of the installation that waits for a worker.'),
    timelineSeconds: seconds('For how long the oldest change has not been in ClickHouse.'),
    deadLetters: Type.Integer({ minimum: 0, description: 'Requests of the business that could not be applied.' }),
    failedDeliveries: Type.Integer({ minimum: 0, description: 'Conversions of the business that were given up.' }),
    pausedChannels: Type.Array(oneOf(MESSAGE_CHANNELS), {
      description: 'Their messages wait, as too many were refused because of the sender.',
    }),
    hasContacts: Type.Boolean(),
    minute: orNull(
      Type.Object(
        {
          requests: Type.Integer({ minimum: 0, description: 'All within the last 60 seconds.' }),
          outcomes: Type.Object(Object.fromEntries(OUTCOMES.map((outcome) => [outcome, count])), {
            ...closed,
            description: 'Of those that were kept: of many requests, a part.',
          }),
          ms: orNull(Type.Object({ median: Type.Number(), p95: Type.Number() }, closed)),
        },
        { ...closed, description: 'Null when Redis does not answer.' },
      ),
    ),
  },
  closed,
)

/** Cached by business, since several people read the same numbers repeatedly. */
const statuses = createTtlCache<Omit<Static<typeof StatusData>, 'reasons' | 'isReady' | 'lateStores'>>({
  ms: 2000,
  max: 500,
})

interface Lags {
  backlogSeconds: number | null
  timelineSeconds: number | null
}

async function getStatus(app: AppContext, _: RequestContext, { business, can }: Principal): Promise<Reply> {
  const [{ blocking, degraded }, status] = await Promise.all([
    app.readReadiness(),
    statuses(business.id, () => readStatus(app, business.id)),
  ])
  const reasons = can('operations') ? [...blocking, ...degraded] : []
  return {
    message: STATUS,
    data: { isReady: blocking.length === 0, lateStores: app.storeWatch.late(), reasons, ...status },
  }
}

async function readStatus(app: AppContext, businessId: string) {
  const [own, lag, minute] = await Promise.all([
    readOwn(app, businessId),
    readLags(app),
    orNullOnFailure(() => summariseMinute(app.redis, businessId, app.now())),
  ])
  return { ...own, ...lag, minute }
}

async function readOwn({ sql }: AppContext, businessId: string) {
  const [own] = await sql<
    [{ deadLetters: number; failedDeliveries: number; pausedChannels: MessageChannel[]; hasContacts: boolean }]
  >`
    select
      (select count(*) from dead_letters where business_id = ${businessId}) as "deadLetters",
      (select count(*) from deliveries where business_id = ${businessId} and state = 'dead') as "failedDeliveries",
      (select coalesce(json_agg(channel order by channel), '[]') from channels
        where business_id = ${businessId} and paused_at is not null) as "pausedChannels",
      exists(select from contacts where business_id = ${businessId}) as "hasContacts"`
  return own
}

async function readLags(app: AppContext): Promise<Lags> {
  const [backlogs, outbox] = await Promise.all([
    orNullOnFailure(() => readBacklogs(app)),
    orNullOnFailure(() => readOutboxLag(app.sql)),
  ])
  return {
    backlogSeconds: backlogs && Math.max(0, ...backlogs.map(({ ageMs }) => ageMs)) / 1000,
    timelineSeconds: outbox && Math.max(0, outbox.seconds),
  }
}

const orNullOnFailure = <T>(read: () => Promise<T>): Promise<T | null> => queryStore(read).catch(() => null)

const SeriesData = Type.Object(
  {
    timezone: Type.String({ description: 'Of the business: its days are these.' }),
    days: Type.Array(
      Type.Object(
        {
          day: Type.String({ description: 'Such as 2026-11-24.' }),
          contacts: count,
          events: orNull(count),
          revenue: orNull(Type.Record(Type.String(), Type.Number(), { description: 'Net of refunds, by currency.' })),
        },
        { ...closed, description: 'Events and revenue are null when ClickHouse did not answer in time.' },
      ),
      { description: 'Oldest first; the last one is today so far.' },
    ),
  },
  closed,
)

/** Cached, since the counts read the times of all events of the business. */
const series = createTtlCache<Static<typeof SeriesData>>({ ms: 5000, max: 500 })

async function getSeries(app: AppContext, context: RequestContext, { business }: Principal): Promise<Reply> {
  const data = await series(`${business.id} ${business.timezone}`, () => readSeries(app, business, context.receivedAt))
  return { message: SERIES, data: data ?? { timezone: business.timezone, days: [] } }
}

async function readSeries(app: AppContext, { id: businessId, timezone }: Business, now: number) {
  const { days, since } = lastDays(now, DAYS, timezone)
  const [contacts, events] = await Promise.all([
    countNewContacts(app.sql, businessId, since),
    readDailyEvents(app.clickhouse, { businessId, since }),
  ])
  const dayOf = createDayOf(timezone)
  const byDay = new Map(days.map((day) => [day, { contacts: 0, events: 0, revenue: new Map<string, string>() }]))
  for (const { at, contacts: created } of contacts) {
    const found = byDay.get(dayOf(at))
    if (found) found.contacts += created
  }
  for (const { at, currency, events: happened, revenue } of events ?? []) {
    const found = byDay.get(dayOf(at))
    if (!found) continue
    found.events += happened
    if (currency !== null) found.revenue.set(currency, addAmounts(found.revenue.get(currency) ?? '0', revenue))
  }
  return {
    timezone,
    days: [...byDay].map(([day, one]) => ({
      day,
      contacts: one.contacts,
      events: events && one.events,
      revenue: events && Object.fromEntries([...one.revenue].map(([currency, sum]) => [currency, amountToNumber(sum)])),
    })),
  }
}

const common = { tag: 'Analytics', key: 'session' } as const

export const homeRoutes: readonly DashboardRoute[] = [
  businessRoute({
    method: 'GET',
    path: '/status',
    permission: 'lists:read',
    handler: getStatus,
    operation: {
      ...common,
      summary: 'Read whether all is well',
      replies: { 200: { message: STATUS, description: 'The numbers of this moment.', data: StatusData } },
      errors: MEMBER_ERRORS,
    },
  }),
  businessRoute({
    method: 'GET',
    path: '/days',
    permission: 'lists:read',
    cost: 'costly',
    isCompressed: true,
    handler: getSeries,
    operation: {
      ...common,
      summary: `Read the new contacts, events and revenue of the last ${DAYS} days`,
      replies: {
        200: { message: SERIES, description: 'A row a day, also for days without events.', data: SeriesData },
      },
      errors: MEMBER_ERRORS,
    },
  }),
]
