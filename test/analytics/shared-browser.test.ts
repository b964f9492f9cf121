/**
 * A browser that is shared by very many people, such as the till of a shop. Its hits are assigned to them within the
 * memory limit of one answer.
 */
import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { READ_LIMITS, openReader } from '../../src/analytics/read-rows.ts'
import { readPages, readSources, readTraffic } from '../../src/analytics/web.ts'
import { MAX_CONTACTS_PER_VISITOR } from '../../src/rules/visitors/link-visitor.ts'
import { openLab } from '../timeline/lab.ts'
import { useOpened } from '../support/use-opened.ts'

const MINUTE = 60_000
const FROM = Date.parse('2024-11-02T00:00:00Z')
const HITS_OF_EACH = 10
const HITS = HITS_OF_EACH * MAX_CONTACTS_PER_VISITOR
const PERIOD = { from: FROM, to: FROM + HITS * MINUTE }

const lab = useOpened(openLab)

/** Saves one view a minute of one address. The browser gets another owner every ten minutes. */
async function saveBrowser(businessId: string): Promise<void> {
  const browser = `toUUID('${businessId}') as business_id, repeat('b', 32) as visitor_id`
  await lab.clickhouse.command({
    query: `insert into web_events (business_id, visitor_id, hit_id, kind, page_id, occurred_ms, received_ms, url, referrer)
      select ${browser}, toString(cityHash64(number)) as hit_id, 'page_view', hit_id, ${FROM} + number * ${MINUTE}, ${FROM},
        concat('https://shop.example/', repeat('p', 200)), concat('https://www.google.com/search?q=', repeat('q', 200))
      from numbers(${HITS})`,
  })
  await lab.clickhouse.command({
    query: `insert into visitor_links (business_id, visitor_id, from_ms, contact_id, revision, erased)
      select ${browser}, ${FROM} + number * ${HITS_OF_EACH * MINUTE}, generateUUIDv4(number), 1, 0
      from numbers(${MAX_CONTACTS_PER_VISITOR})`,
  })
}

it('has a session for each of the most people that it may have, within the limits of an answer', async () => {
  const businessId = randomUUID()
  await saveBrowser(businessId)
  const open = () => openReader(lab, READ_LIMITS)
  const traffic = await readTraffic(open(), businessId, { ...PERIOD, starts: [FROM] })
  const figures = { visitors: 1, sessions: MAX_CONTACTS_PER_VISITOR, pageViews: HITS, sessionSeconds: 0, depth: 0 }
  expect(traffic).toMatchObject({ ...figures, bounceRate: 0 })
  expect(await readPages(open(), businessId, PERIOD, 10)).toMatchObject([
    { views: HITS, entries: MAX_CONTACTS_PER_VISITOR, exits: MAX_CONTACTS_PER_VISITOR },
  ])
  expect(await readSources(open(), businessId, { ...PERIOD, by: 'source', top: 10 })).toMatchObject([
    { value: 'google.com', sessions: MAX_CONTACTS_PER_VISITOR, visitors: 1 },
  ])
})
