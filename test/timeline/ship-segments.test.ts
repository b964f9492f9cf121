import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { scrubOutbox } from '../../src/outbox/scrub-outbox.ts'
import type { SegmentChangeRow } from '../../src/outbox/segment-change-row.ts'
import { GROUP_LIMITS, nextGroup } from '../../src/timeline/shipping/groups.ts'
import { createDefinitionSender, sendSegmentDefinitions } from '../../src/timeline/shipping/send-segment-definitions.ts'
import { sendSegmentChanges } from '../../src/timeline/shipping/send-segment-changes.ts'
import { shipResent } from '../../src/timeline/shipping/ship-outbox.ts'
import {
  type Lab,
  type SegmentChange,
  addContact,
  erase,
  eraseAll,
  merge,
  newBusiness,
  openLab,
  query,
  save,
  saveSegmentChanges,
  shipAll,
} from './lab.ts'

let lab: Lab
/** The database with the views that analysts read. */
let shown: string
beforeAll(async () => {
  lab = await openLab()
  shown = lab.clickhouse.databases.public
})
afterAll(async () => {
  await lab?.close()
})

const DAY = 86_400_000
const TODAY = Math.floor(Date.now() / DAY) * DAY

type Change = Omit<SegmentChange, 'at_ms'> & { at_ms?: number }

const saveChanges = async (business: string, segment: string, changes: Change[]): Promise<SegmentChangeRow[]> =>
  await saveSegmentChanges(
    lab,
    business,
    segment,
    changes.map((change) => ({ at_ms: TODAY, ...change })),
  )

const read = async <Row>(view: string, segment: string, columns = '*'): Promise<Row[]> =>
  await query<Row>(lab, `select ${columns} from ${view} where segment_id = {segment: UUID} order by all`, { segment })
const members = async (segment: string) => await read(`${shown}.segment_members`, segment, 'contact_id, cause')
const stored = async (segment: string) => await read<SegmentChangeRow>('segment_changes', segment)

test('changes arrive, and show who is a member, the history and the numbers by day', async () => {
  const [business, segment] = [newBusiness(), randomUUID()]
  const [ann, bob] = [await addContact(lab, business), await addContact(lab, business)]
  const rows = await saveChanges(business, segment, [
    { contact_id: ann, at_ms: TODAY - 2 * DAY },
    { contact_id: bob, at_ms: TODAY - 2 * DAY + 1, cause: 'bulk' },
    { contact_id: ann, at_ms: TODAY, entered: 0, cause: 'time' },
  ])
  await shipAll(lab)
  expect(await stored(segment)).toEqual(expect.arrayContaining(rows))
  expect(await members(segment)).toEqual([{ contact_id: bob, cause: 'bulk' }])
  expect(await read(`${shown}.segment_changes`, segment, 'changed_ms, contact_id, change, cause')).toEqual([
    { changed_ms: TODAY - 2 * DAY, contact_id: ann, change: 'entered', cause: 'live' },
    { changed_ms: TODAY - 2 * DAY + 1, contact_id: bob, change: 'entered', cause: 'bulk' },
    { changed_ms: TODAY, contact_id: ann, change: 'left', cause: 'time' },
  ])
  expect(await read(`${shown}.segment_counts_by_day`, segment, 'entries, exits, members, day')).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ entries: 2, exits: 0, members: 2 }),
      expect.objectContaining({ entries: 0, exits: 0, members: 2 }),
      expect.objectContaining({ entries: 0, exits: 1, members: 1 }),
    ]),
  )
})

test('the last of several changes in one millisecond is the one with the greatest id', async () => {
  const [business, segment] = [newBusiness(), randomUUID()]
  const contact = await addContact(lab, business)
  // ClickHouse compares UUIDs by their second half first.
  const ids = ['1000-9000', '2000-8800', '3000-8000'].map(
    (middle) => `0198c5a0-7d20-7${middle.slice(0, 3)}-${middle.slice(5)}-000000000001`,
  )
  const change = (n: number) => ids[n] ?? ''
  await saveChanges(business, segment, [
    { contact_id: contact, change_id: change(0) },
    { contact_id: contact, change_id: change(1), entered: 0 },
    { contact_id: contact, change_id: change(2), cause: 'merge' },
  ])
  await shipAll(lab)
  expect(await members(segment)).toEqual([{ contact_id: contact, cause: 'merge' }])
})

test('a group whose changes were sent and that was not marked changes nothing when it is sent again', async () => {
  const [business, segment] = [newBusiness(), randomUUID()]
  const contact = await addContact(lab, business)
  await save(lab, business, [{ contact_id: contact }])
  const rows = await saveChanges(business, segment, [{ contact_id: contact }])
  const group = await nextGroup(lab.sql, lab.lease.owner, GROUP_LIMITS)
  await sendSegmentChanges(lab.clickhouse, group!)
  await shipAll(lab)
  expect(await stored(segment)).toEqual(rows)
  // An owner that was paused continues.
  await sendSegmentChanges(lab.clickhouse, group!)
  expect(await stored(segment)).toEqual(rows)
})

test('a row that is sent again sends only what ClickHouse lacks', async () => {
  const [business, segment] = [newBusiness(), randomUUID()]
  const contact = await addContact(lab, business)
  const rows = await saveChanges(business, segment, [
    { contact_id: contact, at_ms: 1000 },
    { contact_id: contact, at_ms: 2000, entered: 0 },
  ])
  await shipAll(lab)
  await lab.clickhouse.command({
    query: `alter table segment_changes delete where segment_id = '${segment}' and at_ms = 2000 settings mutations_sync = 2`,
  })
  await lab.sql`update outbox set shipped_at = null, group_id = null, resend = '{}' where segment_changes is not null
    and business_ids[1] = ${business}`
  expect(await shipResent(lab, lab.lease)).toBe(true)
  expect(await stored(segment)).toEqual(rows)
})

test("changes of a merged contact are the survivor's, and those of an erased one have no contact", async () => {
  const [business, segment] = [newBusiness(), randomUUID()]
  const [ann, bob, eve] = await Promise.all([1, 2, 3].map(() => addContact(lab, business)))
  await saveChanges(business, segment, [
    { contact_id: ann!, at_ms: 1000 },
    { contact_id: eve!, at_ms: 2000 },
  ])
  await shipAll(lab)
  await merge(lab, business, [ann!], bob!)
  await saveChanges(business, segment, [
    { contact_id: ann!, at_ms: 3000, entered: 0, cause: 'merge' },
    { contact_id: bob!, at_ms: 3000, cause: 'merge' },
  ])
  await saveChanges(business, segment, [{ contact_id: eve!, at_ms: 4000, entered: 0, cause: 'erasure' }])
  await erase(lab, business, [eve!])
  await scrubOutbox(lab.sql, business, [eve!])
  await shipAll(lab)
  await eraseAll(lab)
  expect(await members(segment)).toEqual([{ contact_id: bob, cause: 'merge' }])
  expect(await read(`${shown}.segment_changes`, segment, 'changed_ms, contact_id, change')).toEqual([
    { changed_ms: 1000, contact_id: bob, change: 'entered' },
    { changed_ms: 2000, contact_id: null, change: 'entered' },
    { changed_ms: 3000, contact_id: bob, change: 'entered' },
    { changed_ms: 3000, contact_id: bob, change: 'left' },
    { changed_ms: 4000, contact_id: null, change: 'left' },
  ])
  const days = await read<{ members: number }>(`${shown}.segment_counts_by_day`, segment, 'day, members')
  expect(days.at(-1)?.members).toBe(1)
})

test('a group is limited by the bytes of its changes too', async () => {
  const [business, segment] = [newBusiness(), randomUUID()]
  const contact = await addContact(lab, business)
  for (let n = 0; n < 3; n += 1) await saveChanges(business, segment, [{ contact_id: contact, at_ms: n }])
  const sizes: number[] = []
  for (;;) {
    const group = await nextGroup(lab.sql, lab.lease.owner, { events: 1000, bytes: 600 })
    if (!group) break
    sizes.push(group.segmentChanges.length)
    await sendSegmentChanges(lab.clickhouse, group)
    await lab.sql`update outbox set shipped_at = now() where group_id = ${group.id}`
  }
  expect(sizes).toEqual([2, 1])
})

async function define(business: string, id: string, name: string, rule = {}): Promise<void> {
  await lab.sql`insert into segments (business_id, id, name, rule) values (${business}, ${id}, ${name}, ${JSON.stringify(rule)}::text::jsonb)
    on conflict (business_id, id) do update set name = excluded.name, rule = excluded.rule, version = segments.version + 1,
      updated_at = clock_timestamp()`
}
const definition = async (segment: string) => await read(`${shown}.segments`, segment, 'name, rule, version')

test('definitions follow Postgres: made, edited, deleted, and lost in ClickHouse', async () => {
  const [business, segment] = [newBusiness(), randomUUID()]
  const send = createDefinitionSender(lab)
  await send()
  await define(business, segment, 'VIP "x"', { tag: 'vip', operator: 'has' })
  await send()
  expect(await definition(segment)).toEqual([
    { name: 'VIP "x"', rule: '{"tag": "vip", "operator": "has"}', version: 1 },
  ])
  await define(business, segment, 'VIPs')
  await send()
  expect(await definition(segment)).toEqual([{ name: 'VIPs', rule: '{}', version: 2 }])
  await lab.clickhouse.command({ query: 'truncate table segment_definitions' })
  await sendSegmentDefinitions(lab)
  expect(await definition(segment)).toEqual([{ name: 'VIPs', rule: '{}', version: 2 }])
  await saveChanges(business, segment, [{ contact_id: await addContact(lab, business) }])
  await shipAll(lab)
  expect(await members(segment)).toHaveLength(1)
  await lab.sql`delete from segments where id = ${segment}`
  await send()
  expect([await definition(segment), await members(segment)]).toEqual([[], []])
  await define(business, segment, 'again')
  await sendSegmentDefinitions(lab)
  expect(await definition(segment)).toEqual([{ name: 'again', rule: '{}', version: 1 }])
})
