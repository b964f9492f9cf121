/** Each contact gets one row, whatever the condition is. */
import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { contactRowsSql } from '../../src/analytics/events-sql.ts'
import { openLab } from '../timeline/lab.ts'
import { readerOf } from './history.ts'
import { useOpened } from '../support/use-opened.ts'

const lab = useOpened(openLab)

it('counts a contact that was merged once, with all its events, also where one of two conditions is enough', async () => {
  const [business, merged, survivor, other] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
  const values = [merged, survivor, other].map((contact) => ({
    business_id: business,
    contact_id: contact,
    event_id: randomUUID(),
    event: 'signup',
    occurred_ms: 1,
  }))
  await lab.clickhouse.insert({ table: 'events', values, format: 'JSONEachRow' })
  await lab.clickhouse.insert({
    table: 'contact_redirects',
    values: [{ business_id: business, contact_id: merged, revision: 1, survivor_id: survivor, erased: 0 }],
    format: 'JSONEachRow',
  })
  const rows = contactRowsSql({
    columns: { event: 'event' },
    where: [`event = 'signup'`],
    aggregates: { n: 'count()' },
    having: 'n = 1 or n = 2',
  })
  const found = await readerOf(lab)<{ contact_id: string; n: number }>(rows, { business })
  expect(new Map(found.map(({ contact_id, n }) => [contact_id, n]))).toEqual(
    new Map([
      [survivor, 2],
      [other, 1],
    ]),
  )
  expect(found).toHaveLength(2)
})
