// @serial
import { expect, test } from 'vitest'
import { readUnshipped } from '../../src/timeline/reading/read-unshipped.ts'
import { atLoad } from '../support/at-load.ts'
import { eventOf, newBusiness, openLab } from './lab.ts'

test('it keeps only the newest of 300,000 events of one contact', async () => {
  const lab = await openLab()
  const business = newBusiness()
  const contact_id = crypto.randomUUID()
  const line = JSON.stringify(eventOf(business, { contact_id, event_id: '00000000-0000-7000-8000-000000000000' }))
  const [before, after] = line.split(/(?<="occurred_ms":)\d+/) as [string, string]
  await lab.sql`
    insert into outbox (events, event_count, business_ids, contact_ids, changed)
    select string_agg(${before} || r * 10 + n || ${after}, E'\n'), 10, array[${business}::uuid], array[${contact_id}::uuid], '{false}'
    from generate_series(0, 29999) r, generate_series(0, 9) n group by r`
  const rss = process.memoryUsage.rss()
  const started = performance.now()
  const rows = await readUnshipped(lab.sql, {
    businessId: business,
    contactIds: [contact_id],
    count: 51,
    before: undefined,
  })
  const seconds = (performance.now() - started) / 1000
  expect(rows.map((row) => row.occurred_ms)).toEqual(Array.from({ length: 51 }, (_, i) => 299_999 - i))
  expect(process.memoryUsage.rss() - rss).toBeLessThan(400 * 1024 * 1024)
  expect(seconds).toBeLessThan(atLoad(25))
  await lab.close()
})
