/** Schemas of the answers of chart endpoints. */
import { Type } from '@sinclair/typebox'
import { INTERVALS } from '../../../analytics/buckets.ts'
import { FUNNEL_ORDERS } from '../../../analytics/funnel-sql.ts'
import { STAGES } from '../../../rules/events/journey-stage.ts'
import { RuleSchema } from '../../../rules/segments/grammar/rule-schema.ts'
import { closed, count, dateTime, nextCursor, oneOf, orNull, uuid } from '../reply-fields.ts'

const range = { from: dateTime, to: dateTime, timezone: Type.String({ description: 'Of the business.' }) }
const interval = oneOf(INTERVALS)
const buckets = Type.Array(dateTime, { description: 'When each interval begins; the first one begins with `from`.' })
const share = orNull(Type.Number({ minimum: 0, maximum: 1, description: 'Null when there is nothing to divide by.' }))
const comparedWith = orNull(
  Type.Object(
    { from: dateTime, to: dateTime, buckets },
    { ...closed, description: 'The period before, as many intervals earlier. Null when it was not requested.' },
  ),
)

const points = Type.Array(Type.Number(), { description: 'By interval.' })
const total = Type.Number({ description: 'Of the whole time range: a contact counts once.' })
const line = { total, points }
const before = orNull(Type.Object(line, closed))

export const SeriesData = Type.Object(
  {
    ...range,
    interval,
    buckets,
    series: Type.Array(
      Type.Object(
        {
          currency: orNull(Type.String({ description: 'Of revenue.' })),
          ...line,
          rows: Type.Array(
            Type.Object(
              {
                value: orNull(Type.String({ description: 'Null: it has none, or `isOther`.' })),
                label: orNull(Type.String({ description: 'The name of a segment.' })),
                isOther: Type.Boolean({ description: 'What is in none of the other rows.' }),
                ...line,
              },
              closed,
            ),
            { description: 'Greatest total first, the others last. Empty without a breakdown.' },
          ),
          before,
        },
        closed,
      ),
    ),
    formula: orNull(
      Type.Object(
        {
          total: orNull(Type.Number()),
          points: Type.Array(orNull(Type.Number())),
          before: orNull(
            Type.Object({ total: orNull(Type.Number()), points: Type.Array(orNull(Type.Number())) }, closed),
          ),
        },
        { ...closed, description: 'Null where it divides by 0.' },
      ),
    ),
    comparedWith,
  },
  closed,
)

export const FunnelData = Type.Object(
  {
    ...range,
    order: oneOf(FUNNEL_ORDERS),
    windowSeconds: count,
    steps: Type.Array(
      Type.Object(
        {
          event: orNull(Type.String({ description: 'Null in any order: it is then the step that was done n-th.' })),
          contacts: Type.Integer({ minimum: 0, description: 'Who got so far.' }),
          conversion: share,
          stepConversion: share,
          dropped: Type.Integer({ minimum: 0, description: 'Who did not do the next step.' }),
          medianSeconds: orNull(Type.Number({ description: 'From the step before.' })),
          segment: orNull(
            Type.Object(
              {
                rule: RuleSchema,
                isExact: Type.Boolean({
                  description: 'Whether it holds exactly of those who dropped out now; else it ignores the order.',
                }),
              },
              { ...closed, description: 'Those who dropped out, as a rule; null when no rule can say it.' },
            ),
          ),
        },
        closed,
      ),
    ),
  },
  closed,
)

export const FunnelContactsData = Type.Object(
  {
    contacts: Type.Array(
      Type.Object(
        { contactId: uuid, at: Type.String({ format: 'date-time', description: 'When they did the step.' }) },
        closed,
      ),
      { description: 'Newest first.' },
    ),
    nextCursor,
  },
  closed,
)

export const RetentionData = Type.Object(
  {
    ...range,
    interval,
    cohorts: Type.Array(
      Type.Object(
        {
          start: dateTime,
          contacts: count,
          returned: Type.Array(count, {
            description:
              'Who came back in the n-th interval after; first, in the same one. Only intervals that have begun.',
          }),
        },
        closed,
      ),
      { description: 'Oldest first.' },
    ),
    curve: Type.Array(Type.Object({ period: count, contacts: count, returned: count, share }, closed), {
      description: 'Of the cohorts whose n-th interval is over.',
    }),
  },
  closed,
)

export const LifecycleData = Type.Object(
  {
    ...range,
    interval,
    buckets: Type.Array(
      Type.Object({ start: dateTime, new: count, returning: count, resurrecting: count, dormant: count }, closed),
      { description: 'Oldest first.' },
    ),
  },
  closed,
)

const stage = oneOf(STAGES)
export const StagesData = Type.Object(
  {
    ...range,
    interval,
    stages: Type.Array(Type.Object({ stage, contacts: count }, closed), { description: 'Now, in their order.' }),
    buckets,
    moves: Type.Array(
      Type.Object(
        {
          from: orNull(stage),
          to: stage,
          total: count,
          points: Type.Array(count, { description: 'By interval.' }),
        },
        closed,
      ),
      { description: '`from` is null for the stage in which contacts began.' },
    ),
  },
  closed,
)

const amount = Type.Number()
const figures = {
  gross: Type.Number({ description: 'Of purchases.' }),
  refunds: Type.Number({ minimum: 0 }),
  net: Type.Number({ description: 'Purchases less refunds.' }),
  orders: count,
  averageOrder: orNull(Type.Number({ description: 'Gross by orders.' })),
  customers: Type.Integer({ minimum: 0, description: 'Who ordered.' }),
}
const repeats = {
  repeatCustomers: Type.Integer({ minimum: 0, description: 'Customers with two orders or more.' }),
  repeatRate: share,
}

export const RevenueData = Type.Object(
  {
    ...range,
    interval,
    buckets,
    currencies: Type.Array(
      Type.Object(
        {
          currency: orNull(Type.String({ description: 'Null for orders without an amount.' })),
          ...figures,
          ...repeats,
          points: Type.Array(Type.Object(figures, closed), { description: 'By interval.' }),
          before: orNull(Type.Object({ ...figures, ...repeats }, closed)),
        },
        closed,
      ),
      { description: 'Most gross first.' },
    ),
    comparedWith,
  },
  closed,
)

export const RevenueCohortsData = Type.Object(
  {
    ...range,
    interval,
    currency: Type.String(),
    cohorts: Type.Array(
      Type.Object(
        {
          start: dateTime,
          customers: count,
          ...repeats,
          revenue: Type.Array(amount, {
            description: 'Net, in the n-th interval since. Only intervals that have begun.',
          }),
          lifetimeValue: Type.Array(orNull(amount), {
            description: 'Net revenue of a customer up to then, on average.',
          }),
        },
        closed,
      ),
      { description: 'By when they first ordered in this currency, oldest first.' },
    ),
  },
  closed,
)
