/** Movers equal a short calculation over the same history, and their scores equal those of the view. */
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { WEEK_MS, readMovers } from '../../src/analytics/engagement-movers.ts'
import { runs } from '../support/runs.ts'
import { addContact, merge, newBusiness, openLab, query, save, shipAll } from '../timeline/lab.ts'
import { link, newVisitor } from '../web-events/web-lab.ts'
import { history, readerOf, saveHistory } from './history.ts'
import { useOpened } from '../support/use-opened.ts'

const DAY = 86_400_000
const MINUTE = 60_000
const lab = useOpened(openLab)

interface Point {
  at: number
  points: number
}

function scoreOf(did: readonly Point[], now: number): number {
  const worth = did.map(({ at, points }) => points * 2 ** (-Math.max(0, now - at) / (14 * DAY)))
  return Math.round(100 * (1 - 2 ** (-worth.reduce((sum, one) => sum + one, 0) / 20)))
}

function moverOf(contactId: string, did: readonly Point[], now: number) {
  const then = now - WEEK_MS
  const earlier = did.filter(({ at }) => at <= then)
  return { contactId, score: scoreOf(did, now), before: scoreOf(earlier, then) }
}

const byId = <One extends { contactId: string }>(those: readonly One[]): One[] =>
  those.toSorted((one, other) => (one.contactId < other.contactId ? -1 : 1))

it(
  'lists those whose score changed, the greatest changes first, of merged contacts too',
  { timeout: 120_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(history, fc.integer({ min: 1, max: 4 }), async (seed, top) => {
        const now = Date.now()
        const recent = seed.events.map((one, n) => ({ ...one, at: now - ((n * 7) % 40) * DAY - 1000 }))
        const { businessId, events } = await saveHistory(lab, { ...seed, events: recent })
        const people = [...Map.groupBy(events, ({ contact }) => contact)].map(([contactId, those]) =>
          moverOf(
            contactId,
            those.map(({ occurred_ms: at }) => ({ at, points: 5 })),
            now,
          ),
        )
        const risen = people.filter(({ score, before }) => score > before)
        const fallen = people.filter(({ score, before }) => score < before)
        const all = await readMovers(readerOf(lab), businessId, { now, top: 100 })
        expect({ risen: byId(all.risen), fallen: byId(all.fallen) }).toEqual({
          risen: byId(risen),
          fallen: byId(fallen),
        })
        const few = await readMovers(readerOf(lab), businessId, { now, top })
        const changesOf = (those: readonly { score: number; before: number }[]) =>
          those.map(({ score, before }) => Math.abs(score - before)).toSorted((one, other) => other - one)
        expect(
          [few.risen, few.fallen].map((those) => those.map(({ score, before }) => Math.abs(score - before))),
        ).toEqual([risen, fallen].map((those) => changesOf(those).slice(0, top)))
      }),
      { numRuns: runs(8) },
    )
  },
)

it('counts what browsers captured, and equals the view', async () => {
  const business = newBusiness()
  const now = Date.now()
  const [ann, bob, late] = [
    await addContact(lab, business),
    await addContact(lab, business),
    await addContact(lab, business),
  ]
  await save(lab, business, [
    ...[1, 2, 9].map((days) => ({ contact_id: ann, occurred_ms: now - days * DAY })),
    { contact_id: bob, occurred_ms: now - 20 * DAY },
    // The caller's clock is ahead.
    { contact_id: late, occurred_ms: now + DAY },
  ])
  await merge(lab, business, [bob], ann)
  await shipAll(lab)
  const visitor = newVisitor()
  const hit = {
    business_id: business,
    visitor_id: visitor,
    page_id: 'p',
    received_ms: now,
    url: 'https://shop.example/',
  }
  const values = [
    { ...hit, hit_id: 'view', kind: 'page_view', occurred_ms: now - 8 * DAY },
    { ...hit, hit_id: 'time', kind: 'time', occurred_ms: now - 3 * DAY, active_ms: 4 * MINUTE, idle_ms: MINUTE },
    { ...hit, hit_id: 'scroll', kind: 'scroll', occurred_ms: now - 3 * DAY, depth: 50 },
  ]
  await lab.clickhouse.insert({ table: 'web_events', values, format: 'JSONEachRow' })
  await link(lab.clickhouse, [{ business_id: business, visitor_id: visitor, from_ms: 0, contact_id: bob }])
  const did = [
    ...[1, 2, 9, 20].map((days) => ({ at: now - days * DAY, points: 5 })),
    { at: now - 8 * DAY, points: 1 },
    { at: now - 3 * DAY - MINUTE, points: 4 },
  ]
  const found = await readMovers(readerOf(lab), business, { now, top: 5 })
  expect(byId(found.risen)).toEqual(
    byId([moverOf(ann, did, now), { contactId: late, score: scoreOf([{ at: now, points: 5 }], now), before: 0 }]),
  )
  expect(found.fallen).toEqual([])
  const scores = await query<{ contact_id: string; score: number }>(
    lab,
    'select contact_id, score from contact_engagement where business_id = {business: UUID}',
    { business },
  )
  expect(byId(scores.map(({ contact_id: contactId, score }) => ({ contactId, score })))).toEqual(
    byId(found.risen.map(({ contactId, score }) => ({ contactId, score }))),
  )
})

it('has nobody where nothing changed', async () => {
  const business = newBusiness()
  const old = await addContact(lab, business)
  await save(lab, business, [{ contact_id: old, occurred_ms: Date.now() - 4000 * DAY }])
  await shipAll(lab)
  expect(await readMovers(readerOf(lab), business, { now: Date.now(), top: 5 })).toEqual({ risen: [], fallen: [] })
})
