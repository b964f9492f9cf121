/**
 * The revenue that the report attributes to a campaign, against a count of the events that the test has sent
 * (campaigns, "Reading").
 */
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { MAX_DAYS, readOutcomes } from '../../src/campaigns/read-outcomes.ts'
import { ReportData } from '../../src/front-door/routes/campaigns/schemas.ts'
import { connectClickHouse } from '../../src/stores/clickhouse.ts'
import { shareOf } from '../../src/rules/campaigns/stable-hash.ts'
import { dataOf } from '../front-door/reply-shape.ts'
import { type Speak, speakTo } from '../front-door/http-client.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { openService } from '../support/service.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { useOpened } from '../support/use-opened.ts'

const HOUR = 3_600_000
const ZONE = 'Asia/Jerusalem'
const HOLD_OUT = 40
const service = useOpened(openService)
let speak: Speak
let tenant: TestBusiness
beforeAll(async () => {
  speak = speakTo(service.url)
})
beforeEach(async () => {
  tenant = await createBusiness(service.sql, { timezone: ZONE })
})

const ask = async (method: string, path: string, json?: unknown) => {
  const answer = await speak(method, path, { key: tenant.secretKey, json })
  expect([answer.status, answer.text]).toEqual([200, answer.text])
  return answer
}
const track = async (sent: object): Promise<string> =>
  String((await ask('POST', '/api/sdk/track', sent)).body.data['contactId'])

interface Sent {
  /** The number of the person. */
  who: number
  at: number
  value: number
  currency: string
}

const identityOf = (who: number) => ({ email: `p${who}@x.io` })

async function pay(all: readonly Sent[]): Promise<void> {
  const events = all.map(({ who, at, value, currency }) => ({
    event: value < 0 ? 'refunded' : 'paid',
    identity: identityOf(who),
    occurredAt: at,
    value,
    currency,
  }))
  await ask('POST', '/api/sdk/track/batch', { events })
}

async function publish(more: object = {}): Promise<string> {
  const steps = [{ type: 'wait', for: 'P30D' }]
  const sent = { name: 'C', trigger: { event: 'signup' }, goal: { event: 'done' }, steps, ...more }
  const { campaignId } = (await ask('POST', '/api/campaigns', sent)).body.data['campaign'] as { campaignId: string }
  await ask('POST', `/api/campaigns/${campaignId}/publish`)
  return campaignId
}

interface Outcome {
  enrolled: number
  converted: number
  conversionRate: number | null
  revenue: Record<string, number> | null
}
const reportOf = async (campaignId: string, query = '') =>
  dataOf(ReportData, await ask('GET', `/api/campaigns/${campaignId}/report${query}`))['report'] as {
    enrolments: Record<string, number>
    revenue: Outcome['revenue']
    holdOut: { heldOut: Outcome; others: Outcome } | null
    days: ({ day: string } & Outcome)[]
  }

interface Enrolled {
  who: number
  contactId: string
  from: number
  to: number | null
}

/** A second implementation of the whole calculation. */
function outcomeOf(enrolled: readonly Enrolled[], paid: readonly Sent[]): Outcome {
  const converted = enrolled.filter(({ to }) => to !== null)
  const revenue: Record<string, number> = {}
  for (const { who, from, to } of converted)
    for (const one of paid)
      if (one.who === who && one.at >= from && one.at <= to!)
        revenue[one.currency] = (revenue[one.currency] ?? 0) + one.value
  const { length } = enrolled
  return {
    enrolled: length,
    converted: converted.length,
    conversionRate: length === 0 ? null : converted.length / length,
    revenue,
  }
}

it(
  'counts conversions and revenue, by day, and of those who are held out apart',
  { timeout: PATIENCE_MS },
  async () => {
    const campaignId = await publish({ holdOut: HOLD_OUT })
    const start = Date.now() - 80 * HOUR
    const people = Array.from({ length: 24 }, (_, who) => ({ who, from: start + who * 3 * HOUR }))
    const paid: Sent[] = people.flatMap(({ who, from }) => [
      { who, at: from - 1, value: 1, currency: 'USD' },
      { who, at: from, value: 10.25, currency: 'USD' },
      { who, at: from + 1000, value: 100, currency: who % 2 === 0 ? 'EUR' : 'USD' },
      { who, at: from + 2000, value: -3, currency: 'USD' },
    ])
    await pay(paid)
    const ids = await Promise.all(
      people.map(({ who, from }) => track({ event: 'signup', identity: identityOf(who), occurredAt: from })),
    )
    for (const { who } of people) if (who % 3 !== 0) await track({ event: 'done', identity: identityOf(who) })
    const ends = await service.sql<{ contactId: string; to: number | null }[]>`
    select contact_id as "contactId", ended_at as "to" from enrolments where campaign_id = ${campaignId}`
    const enrolled: Enrolled[] = people.map(({ who, from }) => ({
      who,
      from,
      contactId: ids[who]!,
      to: ends.find(({ contactId }) => contactId === ids[who])?.to ?? null,
    }))
    // At the end, and one millisecond later.
    const late = enrolled.flatMap(({ who, to }): Sent[] =>
      to === null
        ? []
        : [
            { who, at: to, value: 0.5, currency: 'USD' },
            { who, at: to + 1, value: 7, currency: 'USD' },
          ],
    )
    await pay(late)
    paid.push(...late)
    await service.shipped()

    const report = await reportOf(campaignId)
    const all = outcomeOf(enrolled, paid)
    expect(report).toMatchObject({ enrolments: { enrolled: 24, converted: 16 }, revenue: all.revenue })
    const isHeldOut = ({ contactId }: Enrolled) => shareOf('hold-out', contactId, campaignId) < HOLD_OUT * 100
    expect(report.holdOut).toEqual({
      heldOut: outcomeOf(enrolled.filter(isHeldOut), paid),
      others: outcomeOf(
        enrolled.filter((one) => !isHeldOut(one)),
        paid,
      ),
    })
    const dayOf = (at: number) => new Date(at).toLocaleDateString('en-CA', { timeZone: ZONE })
    const days = [...Map.groupBy(enrolled, ({ from }) => dayOf(from))].toSorted(([one], [other]) =>
      one < other ? -1 : 1,
    )
    expect(report.days).toEqual(days.map(([day, those]) => ({ day, ...outcomeOf(those, paid) })))
    expect(days.length).toBeGreaterThan(2)

    // A range of enrolments, both ends included.
    const [from, to] = [people[5]!.from, people[9]!.from]
    const part = await reportOf(campaignId, `?from=${new Date(from).toISOString()}&to=${new Date(to).toISOString()}`)
    expect(part.revenue).toEqual(outcomeOf(enrolled.slice(5, 10), paid).revenue)
    expect(part.enrolments['enrolled']).toBe(5)
  },
)

it(
  'counts what a contact brought before it was merged, and keeps the counts of the erased',
  { timeout: PATIENCE_MS },
  async () => {
    const campaignId = await publish()
    const from = Date.now() - 5 * HOUR
    await pay([{ who: 1, at: from + 1, value: 5, currency: 'USD' }])
    await track({
      event: 'paid',
      identity: { phone: '+972541234567' },
      occurredAt: from + 2,
      value: 8,
      currency: 'USD',
    })
    for (const who of [1, 2]) await track({ event: 'signup', identity: identityOf(who), occurredAt: from })
    await pay([{ who: 2, at: from + 3, value: 100, currency: 'USD' }])
    for (const who of [1, 2]) await track({ event: 'done', identity: identityOf(who) })
    await track({ event: 'seen', identity: { ...identityOf(1), phone: '+972541234567' } })
    const gone = await track({ event: 'seen', identity: identityOf(2) })
    await service.shipped()
    expect(await reportOf(campaignId)).toMatchObject({ revenue: { USD: 113 }, holdOut: null })
    await ask('DELETE', `/api/contacts/${gone}`)
    expect(await reportOf(campaignId)).toMatchObject({
      enrolments: { enrolled: 2, converted: 2 },
      revenue: { USD: 13 },
      days: [{ enrolled: 2, converted: 2, conversionRate: 1, revenue: { USD: 13 } }],
    })
  },
)

it('is empty for a campaign without enrolments, and for nobody who converted', { timeout: PATIENCE_MS }, async () => {
  const campaignId = await publish({ holdOut: HOLD_OUT })
  const none = { enrolled: 0, converted: 0, conversionRate: null, revenue: {} }
  expect(await reportOf(campaignId)).toMatchObject({ revenue: {}, holdOut: { heldOut: none, others: none }, days: [] })
  await track({ event: 'signup', identity: identityOf(1), value: 5 })
  await service.shipped()
  expect((await reportOf(campaignId)).days).toMatchObject([
    { enrolled: 1, converted: 0, conversionRate: 0, revenue: {} },
  ])
})

it('has no revenue while ClickHouse is away, and the newest days alone', { timeout: PATIENCE_MS }, async () => {
  const campaignId = await publish()
  await track({ event: 'signup', identity: identityOf(1) })
  await track({ event: 'done', identity: identityOf(1) })
  const query = { businessId: tenant.businessId, campaignId, timezone: ZONE, keys: null, from: null, to: null }
  const away = connectClickHouse('http://127.0.0.1:1')
  const outcomes = await readOutcomes({ sql: service.sql, clickhouse: away }, query)
  expect(outcomes).toMatchObject({ revenue: null, holdOut: null, days: [{ enrolled: 1, converted: 1, revenue: null }] })
  await away.close()
  const DAY = 24 * HOUR
  await service.sql`
    insert into erased_enrolments (business_id, campaign_id, state, enrolled_at)
    select ${tenant.businessId}, ${campaignId}, 'stopped', ${Date.UTC(2020, 0, 1)} + n * ${DAY}::bigint
    from generate_series(1, ${MAX_DAYS}) n`
  const { days } = await readOutcomes(service, query)
  expect(days).toHaveLength(MAX_DAYS)
  expect(days.at(-1)).toMatchObject({ converted: 1 })
})
