/** What a business does not use costs it nothing: the path of its events reads and writes no table of it. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { draftCampaign, publishDraft } from '../support/campaigns.ts'
import { NOW, type Pipeline, batch, eventFact, identify, identifyFact, openPipeline, track } from '../support/facts.ts'
import { createBusiness } from '../support/stack.ts'
import { type Lab, openLab, shipAll } from '../timeline/lab.ts'

/** The tables that events of a business without segments, campaigns, destinations and browsers need. */
const NEEDED = [
  'businesses',
  'contacts',
  'event_statistics',
  'idempotency_keys',
  'identifications',
  'identities',
  'outbox',
  'positions',
  'revenue',
  'subscriptions',
  // The lists of what else there is to send to ClickHouse, once for each group.
  'erasures',
  'timeline_lease',
]

let lab: Lab
let pipeline: Pipeline
beforeAll(async () => {
  lab = await openLab()
  pipeline = await openPipeline(lab.sql)
})
afterAll(async () => {
  await lab?.close()
})

/** Number of scans, and of rows read and written, by table. */
async function readUse(): Promise<Map<string, number>> {
  // A session reports what it has done at most once a second. Each of these queries has a connection of its own.
  await sleep(1100)
  const flush = () => lab.sql`select pg_stat_force_next_flush(), pg_sleep(0.3)`
  await Promise.all(Array.from({ length: lab.sql.options.max }, flush))
  const rows = await lab.sql<{ name: string; used: number }[]>`
    select relname as name, (coalesce(seq_scan, 0) + coalesce(idx_scan, 0) + coalesce(seq_tup_read, 0)
      + coalesce(idx_tup_fetch, 0) + n_tup_ins + n_tup_upd + n_tup_del)::float8 as used
    from pg_stat_user_tables`
  return new Map(rows.map(({ name, used }) => [name, used]))
}

const sendEvents = (businessId: string, round: string) =>
  pipeline.apply(
    ...['ada', 'bob', 'eve'].flatMap((name) => [
      track(businessId, eventFact('signup', { email: `${name}-${round}@x.io` })),
      track(
        businessId,
        eventFact('lesson', { email: `${name}@x.io` }, { tags: [round], idempotencyKey: `${name}-${round}` }),
      ),
      track(businessId, eventFact('purchase', { email: `${name}@x.io` }, { value: 5, traits: { plan: `"${round}"` } })),
      identify(businessId, identifyFact({ email: `${name}@x.io` }, { profile: { firstName: round } })),
    ]),
    batch(businessId, [eventFact('past', { email: 'ada@x.io' }, { occurredAt: NOW - 1000 })]),
  )

/** Returns the tables that two micro-batches and their shipping use, one with contacts that are cached and one without. */
async function tablesUsedBy(businessId: string): Promise<string[]> {
  // The first one adds a custom field, so the next one reads the configuration anew.
  await sendEvents(businessId, 'zeroth')
  await sendEvents(businessId, 'first')
  await shipAll(lab)
  const before = await readUse()
  await sendEvents(businessId, 'second')
  const other = await openPipeline(lab.sql)
  other.deps.configs.set(businessId, pipeline.deps.configs.get(businessId)!)
  const cached = pipeline
  pipeline = other
  await sendEvents(businessId, 'third')
  pipeline = cached
  await shipAll(lab)
  const after = await readUse()
  return [...after].flatMap(([name, used]) => (used === before.get(name) ? [] : [name])).toSorted()
}

it('nothing of segments, campaigns, destinations and browsers is read or written for a business without them', async () => {
  const { businessId } = await createBusiness(lab.sql)
  const used = await tablesUsedBy(businessId)
  expect(used.filter((name) => !NEEDED.includes(name))).toEqual([])
  expect(used).toEqual(expect.arrayContaining(['contacts', 'event_statistics', 'outbox', 'positions']))
})

it('the enrolments are read once a campaign was published, also when it is archived', async () => {
  const { businessId } = await createBusiness(lab.sql)
  const campaignId = await draftCampaign(lab.sql, businessId, {
    name: 'Welcome',
    trigger: { event: 'never' },
    canEnterAgain: false,
    goalEvent: null,
  })
  expect((await publishDraft(lab.sql, businessId, campaignId)).kind).toBe('published')
  await lab.sql`update campaigns set status = 'archived' where id = ${campaignId}`
  await lab.sql`update businesses set config_version = config_version + 1 where id = ${businessId}`
  const used = await tablesUsedBy(businessId)
  expect(used).toContain('enrolments')
  expect(used.filter((name) => name === 'keyed_enrolments' || name === 'goal_times')).toEqual([])
})
