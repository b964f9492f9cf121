/** The figures of web pages and of engagement equal a short calculation over the same hits. */
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { divide, startOf } from '../../src/analytics/buckets.ts'
import { readEngagementScores } from '../../src/analytics/engagement.ts'
import { readLiveVisitors, readPages, readSources, readTraffic } from '../../src/analytics/web.ts'
import { runs } from '../support/runs.ts'
import { openLab } from '../timeline/lab.ts'
import { ZONES, history, near, readerOf, saveHistory } from './history.ts'
import { useOpened } from '../support/use-opened.ts'

const DAY = 86_400_000
const MINUTE = 60_000
const FROM = Date.parse('2024-11-02T00:00:00Z')
const lab = useOpened(openLab)

interface HitSeed {
  who: number
  at: number
  page: string
  referrer: string
  query: string
  activeMs: number
  depth: number
}
const hit: fc.Arbitrary<HitSeed> = fc.record({
  who: fc.nat(3),
  at: fc.nat(5 * 24 * 12).map((one) => FROM + one * 5 * MINUTE),
  page: fc.constantFrom('/', '/pricing', '/#/cart'),
  referrer: fc.constantFrom('', 'https://www.Google.com/search'),
  query: fc.constantFrom('', '?utm_source=news&utm_campaign=spring'),
  activeMs: fc.constantFrom(0, 1000, 4 * MINUTE),
  depth: fc.constantFrom(0, 25, 100),
})

interface View extends HitSeed {
  visitor: string
  contact: string | null
}
interface Session {
  start: number
  views: View[]
}

const visitorOf = (who: number) => `${who}`.padStart(32, 'b')
const urlOf = ({ page, query }: HitSeed) =>
  page.includes('#') ? `https://Shop.example/${query}${page.slice(1)}` : `https://Shop.example${page}${query}`
const pageOf = ({ page }: HitSeed) => `Shop.example${page}`
const average = (numbers: number[]) =>
  numbers.length === 0 ? null : near(numbers.reduce((sum, one) => sum + one, 0) / numbers.length, 6)

/** Saves one view for each browser and instant. Its time and depth are reported when it ends. */
async function saveHits(businessId: string, ids: string[], seeds: HitSeed[]): Promise<HitSeed[]> {
  const distinct = [...new Map(seeds.map((one) => [`${one.who} ${one.at}`, one])).values()]
  const shared = { business_id: businessId, title: '', received_ms: FROM, depth: 0, active_ms: 0, idle_ms: 0 }
  const values = distinct.flatMap((one) => {
    const id = `${one.who}-${one.at}`
    const of = { ...shared, visitor_id: visitorOf(one.who), page_id: id, url: urlOf(one), referrer: '' }
    const end = one.at + one.activeMs
    return [
      { ...of, hit_id: `${id}-v`, kind: 'page_view', occurred_ms: one.at, referrer: one.referrer },
      ...(one.depth > 0 ? [{ ...of, hit_id: `${id}-s`, kind: 'scroll', occurred_ms: one.at, depth: one.depth }] : []),
      ...(one.activeMs > 0
        ? [{ ...of, hit_id: `${id}-t`, kind: 'time', occurred_ms: end, active_ms: one.activeMs }]
        : []),
    ]
  })
  // Each hit arrives twice.
  for (const received of [FROM, FROM + 1])
    await lab.clickhouse.insert({
      table: 'web_events',
      values: values.map((one) => ({ ...one, received_ms: received })),
      format: 'JSONEachRow',
    })
  const links = ids.map((id, who) => ({
    business_id: businessId,
    visitor_id: visitorOf(who),
    from_ms: 0,
    contact_id: id,
    revision: 1,
    erased: 0,
  }))
  await lab.clickhouse.insert({ table: 'visitor_links', values: links, format: 'JSONEachRow' })
  return distinct
}

function sessionsOf(views: View[]): Session[] {
  const sessions: (Session & { end: number; visitor: string })[] = []
  for (const view of views.toSorted((one, other) => one.at - other.at)) {
    const open = sessions.findLast(({ visitor }) => visitor === view.visitor)
    const end = view.at + view.activeMs
    if (open && view.at - open.end < 30 * MINUTE) {
      open.views.push(view)
      open.end = Math.max(open.end, end)
    } else sessions.push({ start: view.at, end, visitor: view.visitor, views: [view] })
  }
  return sessions
}

it('traffic, pages and sources equal the views', { timeout: 300_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(
      history,
      fc.array(hit, { maxLength: 60 }),
      fc.constantFrom('hour' as const, 'day' as const),
      fc.constantFrom(...ZONES),
      async (seed, seeds, interval, timezone) => {
        const { businessId, ids, ownerOf } = await saveHistory(lab, { ...seed, events: [] })
        const saved = await saveHits(businessId, ids, seeds)
        const views = saved.flatMap((one): View[] => {
          const id = ids[one.who]
          const contact = id === undefined ? null : ownerOf(id)
          // The views of an erased person are not included.
          return id !== undefined && contact === null ? [] : [{ ...one, visitor: visitorOf(one.who), contact }]
        })
        const period = { from: FROM + DAY, to: FROM + 4 * DAY }
        const calendar = { interval, timezone }
        const buckets = divide(period, calendar, 1000)!
        const isIn = (at: number) => at >= period.from && at < period.to
        const viewed = views.filter(({ at }) => isIn(at))
        const sessions = sessionsOf(views).filter(({ start }) => isIn(start))
        const secondsOf = (those: Session[]) =>
          average(those.map((one) => one.views.reduce((sum, { activeMs }) => sum + activeMs / 1000, 0)))
        const figures = (some: View[], those: Session[]) => ({
          visitors: new Set(some.map(({ visitor }) => visitor)).size,
          sessions: those.length,
          pageViews: some.length,
          bounceRate: average(those.map((one) => (one.views.length <= 1 ? 1 : 0))),
          sessionSeconds: secondsOf(those),
          depth: average(some.map(({ depth }) => depth)),
        })
        const bucketOf = (at: number) => Math.max(period.from, startOf(at, calendar))
        expect(await readTraffic(readerOf(lab), businessId, buckets)).toEqual({
          ...figures(viewed, sessions),
          points: buckets.starts.map((at) =>
            figures(
              viewed.filter((one) => bucketOf(one.at) === at),
              sessions.filter((one) => bucketOf(one.start) === at),
            ),
          ),
        })
        const pages = [...Map.groupBy(viewed, pageOf)].map(([page, those]) => ({
          page,
          views: those.length,
          visitors: new Set(those.map(({ visitor }) => visitor)).size,
          seconds: average(those.map(({ activeMs }) => activeMs / 1000)),
          depth: average(those.map(({ depth }) => depth)),
          entries: sessions.filter((one) => pageOf(one.views[0]!) === page).length,
          exits: sessions.filter((one) => pageOf(one.views.at(-1)!) === page).length,
        }))
        expect(await readPages(readerOf(lab), businessId, period, 10)).toEqual(
          pages.toSorted((one, other) => other.views - one.views || (one.page < other.page ? -1 : 1)),
        )
        const valueOf = {
          source: ({ query, referrer }: View) => (query ? 'news' : referrer ? 'google.com' : null),
          campaign: ({ query }: View) => (query ? 'spring' : null),
          referrer: ({ referrer }: View) => (referrer ? 'google.com' : null),
        }
        for (const by of ['source', 'campaign', 'referrer'] as const) {
          const rows = [...Map.groupBy(sessions, (one) => valueOf[by](one.views[0]!))].map(([value, those]) => ({
            value,
            sessions: those.length,
            visitors: new Set(those.map((one) => one.views[0]!.visitor)).size,
            bounceRate: average(those.map((one) => (one.views.length <= 1 ? 1 : 0))),
            sessionSeconds: secondsOf(those),
          }))
          expect(await readSources(readerOf(lab), businessId, { ...period, by, top: 10 })).toEqual(
            rows.toSorted(
              (one, other) => other.sessions - one.sessions || ((one.value ?? '') < (other.value ?? '') ? -1 : 1),
            ),
          )
        }
        const now = FROM + 2 * DAY
        const live = views.filter(({ at, activeMs }) => at + activeMs >= now - 5 * MINUTE)
        expect(await readLiveVisitors(readerOf(lab), businessId, now)).toBe(
          new Set(live.map(({ visitor }) => visitor)).size,
        )
      },
    ),
    { numRuns: runs(7) },
  )
})

/** Browsers that change owners: to a contact, to a merged or erased contact, and to none. */
const link = fc.record({
  who: fc.nat(3),
  at: fc.nat(5 * 24).map((hours) => FROM + hours * 60 * MINUTE),
  contact: fc.nat(3),
  erased: fc.constantFrom(0, 0, 1),
})

it(
  'sessions and page views are those of the views, also of browsers that change hands',
  { timeout: 300_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(
        history,
        fc.array(hit, { maxLength: 60 }),
        fc.array(link, { maxLength: 6 }),
        async (seed, seeds, changes) => {
          const { businessId, ids } = await saveHistory(lab, { ...seed, events: [] })
          await saveHits(businessId, ids, seeds)
          const values = changes.map(({ who, at, contact, erased }, revision) => ({
            business_id: businessId,
            visitor_id: visitorOf(who),
            from_ms: at,
            contact_id: ids[contact] ?? ids[0],
            revision,
            erased,
          }))
          await lab.clickhouse.insert({ table: 'visitor_links', values, format: 'JSONEachRow' })
          const period = { from: FROM + DAY, to: FROM + 4 * DAY }
          const read = readerOf(lab)
          const isIn = (time: string) => `where business_id = '${businessId}'
          and toUnixTimestamp64Milli(${time}) >= ${period.from} and toUnixTimestamp64Milli(${time}) < ${period.to}`
          const [traffic] = await read(
            `select count() as sessions, countIf(pages <= 1) as bounces, sum(active_ms) as active
          from web_sessions ${isIn('started_at')}`,
            {},
          )
          const [views] = await read(
            `select count() as views, uniqExact(visitor_id) as visitors, sum(depth) as scrolled
          from web_page_views ${isIn('viewed_at')}`,
            {},
          )
          const { sessions, bounceRate, sessionSeconds, pageViews, visitors, depth } = await readTraffic(
            read,
            businessId,
            {
              ...period,
              starts: [period.from],
            },
          )
          expect({
            sessions,
            bounces: Math.round((bounceRate ?? 0) * sessions),
            active: Math.round((sessionSeconds ?? 0) * sessions * 1000),
          }).toEqual(traffic)
          expect({ views: pageViews, visitors, scrolled: Math.round((depth ?? 0) * pageViews) }).toEqual(views)
          const borders = await read<{ page: string; entries: number; exits: number }>(
            `select page, countIf(is_entry) as entries, countIf(not is_entry) as exits from (
            select arrayJoin([(entry_url, true), (exit_url, false)]) as border, border.2 as is_entry,
              concat(domain(border.1), path(border.1), if(fragment(border.1) = '', '', '#/cart')) as page
            from web_sessions ${isIn('started_at')})
          group by page`,
            {},
          )
          const pages = await readPages(read, businessId, period, 10)
          const of = new Map(borders.map((one) => [one.page, one]))
          for (const { page, entries, exits } of pages)
            expect({ page, entries, exits }).toEqual(of.get(page) ?? { page, entries: 0, exits: 0 })
          const referrers = await read(
            `select if(referrer = '', null, 'google.com') as value, count() as sessions from web_sessions ${isIn('started_at')}
          group by value order by sessions desc, ifNull(value, '')`,
            {},
          )
          const found = await readSources(read, businessId, { ...period, by: 'referrer', top: 10 })
          expect(found.map(({ value, sessions: count }) => ({ value, sessions: count }))).toEqual(referrers)
        },
      ),
      { numRuns: runs(5) },
    )
  },
)

it('engagement is the distribution of the view, and those without a score', { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(history, async (seed) => {
      const now = Date.now()
      const recent = seed.events.map((one, n) => ({ ...one, at: now - n * DAY }))
      const { businessId, events, people } = await saveHistory(lab, { ...seed, events: recent })
      const scores = [...Map.groupBy(events, ({ contact }) => contact).values()]
        .map((those) => {
          const points = those.map(({ occurred_ms: at }) => 5 * 2 ** (-(now - at) / (14 * DAY)))
          return Math.round(100 * (1 - 2 ** (-points.reduce((sum, one) => sum + one, 0) / 20)))
        })
        .toSorted((one, other) => one - other)
      const found = await readEngagementScores(readerOf(lab), businessId)
      expect(found.contacts).toBe(people.length)
      expect(found.inactive).toBe(people.length - scores.length)
      expect(found.ranges.map(({ from, to }) => `${from}-${to}`).at(-1)).toBe('90-100')
      expect(found.ranges.map(({ contacts }) => contacts)).toEqual(
        found.ranges.map(({ from, to }) => scores.filter((score) => score >= from && score <= to).length),
      )
      const middle = (scores.length - 1) / 2
      expect(found.median).toBe(
        scores.length === 0 ? null : (scores[Math.floor(middle)]! + scores[Math.ceil(middle)]!) / 2,
      )
    }),
    { numRuns: runs(5) },
  )
})
