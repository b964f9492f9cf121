/** Attribution equals a short calculation over the same touches and purchases. */
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  ATTRIBUTION_KEYS,
  ATTRIBUTION_MODELS,
  type AttributionKey,
  type AttributionModel,
  readAttribution,
} from '../../src/analytics/attribution.ts'
import { runs } from '../support/runs.ts'
import { openLab } from '../timeline/lab.ts'
import { BEGAN, type Happened, SPAN_DAYS, near, readerOf, assertHistories } from './history.ts'
import { useOpened } from '../support/use-opened.ts'

const DAY = 86_400_000
const lab = useOpened(openLab)

interface TouchSeed {
  who: number
  browser: number
  at: number
  from: (typeof SOURCES)[number]
  page: string
}
const SOURCES = [
  { channel: 'email', source: 'news', medium: 'email', campaign: 'spring' },
  { channel: 'email', source: 'news', medium: 'email', campaign: '' },
  { channel: 'paid_search', source: 'google', medium: 'cpc', campaign: 'spring' },
] as const

const touch: fc.Arbitrary<TouchSeed> = fc.record({
  who: fc.nat(7),
  browser: fc.nat(1),
  at: fc.oneof(
    fc.nat(SPAN_DAYS * 86_400).map((one) => BEGAN + one * 1000),
    fc.nat(SPAN_DAYS).map((one) => BEGAN + one * DAY),
  ),
  from: fc.constantFrom(...SOURCES),
  page: fc.constantFrom('https://a.example/', 'https://a.example/sale'),
})

const visitorOf = (who: number, browser: number) => `${who}${browser}`.padStart(32, 'a')

/** Saves the touches as the shipper would send them. */
async function saveTouches(businessId: string, ids: string[], touches: TouchSeed[]): Promise<void> {
  const byBrowser = Map.groupBy(touches, ({ who, browser }) => visitorOf(who % ids.length, browser))
  const shared = { business_id: businessId, revision: 1, erased: 0 }
  const values = [...byBrowser].map(([visitorId, those]) => {
    const list = (of: (one: TouchSeed) => string) => those.map(of)
    const none = those.map(() => '')
    return {
      ...shared,
      visitor_id: visitorId,
      at_ms: those.map(({ at }) => at),
      url: list(({ page }) => `${page}?x=1#y`),
      source: list(({ from }) => from.source),
      medium: list(({ from }) => from.medium),
      campaign: list(({ from }) => from.campaign),
      ...Object.fromEntries(
        ['referrer', 'term', 'content', 'utm_id', 'gclid', 'gbraid', 'wbraid', 'fbclid', 'msclkid', 'ttclid'].map(
          (name) => [name, none],
        ),
      ),
    }
  })
  const links = ids.flatMap((contactId, who) =>
    [0, 1].map((browser) => ({ ...shared, visitor_id: visitorOf(who, browser), from_ms: 0, contact_id: contactId })),
  )
  await lab.clickhouse.insert({ table: 'visitor_touches', values, format: 'JSONEachRow' })
  await lab.clickhouse.insert({ table: 'visitor_links', values: links, format: 'JSONEachRow' })
}

interface Expected {
  revenue: number
  refunds: number
  orders: number
  conversions: number
  buyers: Set<string>
}

function weightsOf(model: AttributionModel, times: number[]): number[] {
  const raw = times.map((at, place) => {
    const [isFirst, isLast] = [place === 0, place === times.length - 1]
    switch (model) {
      case 'first':
        return isFirst ? 1 : 0
      case 'last':
        return isLast ? 1 : 0
      case 'linear':
        return 1
      case 'time_decay':
        return 2 ** ((at - times.at(-1)!) / (7 * DAY))
      case 'position':
        return times.length <= 2 ? 1 : isFirst || isLast ? 0.4 : 0.2 / (times.length - 2)
    }
  })
  const whole = raw.reduce((sum, one) => sum + one, 0)
  return raw.map((one) => one / whole)
}

function keyOf(by: AttributionKey, one: TouchSeed | null): Record<string, string | null> {
  const nothing = { channel: null, source: null, medium: null, campaign: null, landingPage: null }
  const values = one ? { ...one.from, landingPage: one.page } : UNKNOWN
  if (by === 'touch') return { ...nothing, ...values, landingPage: null }
  const name = by === 'landing_page' ? 'landingPage' : by
  return { ...nothing, [name]: values[name] }
}
const UNKNOWN = { channel: 'unknown', source: '', medium: '', campaign: '', landingPage: '' }

it('divides each purchase among the touches before it', { timeout: 300_000 }, async () => {
  await assertHistories(
    lab,
    runs(10),
    fc.tuple(
      fc.array(touch, { maxLength: 40 }),
      fc.array(
        fc.tuple(
          fc.constantFrom(...ATTRIBUTION_MODELS),
          fc.constantFrom(...ATTRIBUTION_KEYS),
          fc.constantFrom(undefined, undefined, 'purchase', 'signup'),
        ),
        { minLength: 4, maxLength: 4 },
      ),
      fc.integer({ min: 0, max: 20 }),
    ),
    async ({ businessId, events, ids, ownerOf }, [touches, asked, begins]) => {
      await saveTouches(businessId, ids, touches)
      const [from, to] = [BEGAN + begins * DAY, BEGAN + (begins + 25) * DAY]
      const touchesOf = (person: string, until: number): TouchSeed[] => {
        const theirs = touches
          .filter(({ who, at }) => ownerOf(ids[who % ids.length]!) === person && at <= until)
          .toSorted(
            (one, other) =>
              one.at - other.at ||
              compare(visitorOf(one.who % ids.length, one.browser), visitorOf(other.who % ids.length, other.browser)) ||
              compare(one.page, other.page),
          )
        return theirs.filter(({ at }, place) => theirs[place - 1]?.at !== at)
      }
      const paid = events.filter((one) => one.type !== 'none' && (one.cents !== 0 || one.is_order === 1))
      const creditOf = (one: Happened): number => {
        if (one.type !== 'refund') return one.occurred_ms
        const before = paid.filter(
          (other) =>
            other.type === 'purchase' &&
            other.contact === one.contact &&
            other.currency === one.currency &&
            other.occurred_ms <= one.occurred_ms,
        )
        return before.length === 0 ? one.occurred_ms : Math.max(...before.map(({ occurred_ms: at }) => at))
      }
      for (const [model, by, event] of asked) {
        const expected = new Map<string, Expected>()
        const meant = event === undefined ? paid : events.filter((one) => one.event === event)
        const isBuyer = (one: Happened) => event !== undefined || one.type === 'purchase'
        for (const one of meant.filter(({ occurred_ms: at }) => at >= from && at < to)) {
          const earlier = touchesOf(one.contact, creditOf(one))
          const weights = weightsOf(
            model,
            earlier.map(({ at }) => at),
          )
          const parts = earlier.length === 0 ? [[null, 1] as const] : earlier.map((it, n) => [it, weights[n]!] as const)
          for (const [it, weight] of parts) {
            if (weight === 0) continue
            const key = JSON.stringify({ ...keyOf(by, it), currency: one.currency })
            const row = expected.get(key) ?? { revenue: 0, refunds: 0, orders: 0, conversions: 0, buyers: new Set() }
            row.revenue += (one.cents / 100) * weight
            row.refunds += (Math.max(0, -one.cents) / 100) * weight
            row.orders += one.is_order * weight
            row.conversions += (event === undefined ? one.is_order : 1) * weight
            if (isBuyer(one)) row.buyers.add(one.contact)
            expected.set(key, row)
          }
        }
        const { rows, truncated } = await readAttribution(readerOf(lab), {
          businessId,
          model,
          by,
          from,
          to,
          ...(event !== undefined && { event }),
        })
        expect(truncated).toBe(false)
        const found = new Map(
          rows.map(({ revenue, refunds, orders, conversions, contacts, ...key }) => {
            const { currency, ...rest } = key
            return [JSON.stringify({ ...rest, currency }), { revenue, refunds, orders, conversions, contacts }]
          }),
        )
        expect(new Set(found.keys())).toEqual(new Set(expected.keys()))
        for (const [key, { buyers, ...row }] of expected)
          expect(found.get(key)).toEqual({
            revenue: near(row.revenue, 4),
            refunds: near(row.refunds, 4),
            orders: near(row.orders, 4),
            conversions: near(row.conversions, 4),
            contacts: buyers.size,
          })
      }
    },
  )
})

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)
