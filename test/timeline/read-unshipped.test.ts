import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { purgeOutbox } from '../../src/outbox/purge-outbox.ts'
import { readTimeline } from '../../src/timeline/reading/read-timeline.ts'
import { readUnshipped } from '../../src/timeline/reading/read-unshipped.ts'
import { type Lab, addContact, eventOf, merge, newBusiness, openLab, save, saveLines, shipAll } from './lab.ts'
import { runs } from '../support/runs.ts'

let lab: Lab
beforeAll(async () => {
  lab = await openLab()
})
afterEach(async () => {
  await lab.sql`truncate outbox`
})
afterAll(async () => {
  await lab?.close()
})

const everything = { count: 100_000, before: undefined }

test('finds what any number of contacts have waiting, and nothing of others', async () => {
  const business = newBusiness()
  const contacts = Array.from({ length: 40 }, () => crypto.randomUUID())
  await Promise.all(contacts.map((contact_id) => save(lab, business, [{ contact_id }, { contact_id: contacts[0]! }])))
  await save(lab, newBusiness(), [{ contact_id: contacts[0]! }])
  for (const wanted of [contacts.slice(1, 2), contacts.slice(1, 17), contacts.slice(1, 18), contacts.slice(1)]) {
    const rows = await readUnshipped(lab.sql, { businessId: business, contactIds: wanted, ...everything })
    expect(rows.map((row) => row.contact_id).toSorted()).toEqual(wanted.toSorted())
  }
  expect(
    await readUnshipped(lab.sql, { businessId: business, contactIds: [crypto.randomUUID()], ...everything }),
  ).toEqual([])
})

test('concurrent readers share few walks, and each gets its own contacts', async () => {
  const business = newBusiness()
  const contacts = Array.from({ length: 300 }, () => crypto.randomUUID())
  await save(
    lab,
    business,
    contacts.map((contact_id) => ({ contact_id })),
  )
  await lab.sql`create table walks (n integer)`
  await lab.sql`alter function find_unshipped(uuid[]) rename to find_unshipped_uncounted`
  await lab.sql.unsafe(`
    create function find_unshipped(p_contacts uuid[]) returns table (id bigint, contacts json, bytes integer) language plpgsql as $$
    begin
      insert into walks values (cardinality(p_contacts));
      return query select * from find_unshipped_uncounted(p_contacts);
    end $$`)
  try {
    const found = await Promise.all(
      contacts.map((id) => readUnshipped(lab.sql, { businessId: business, contactIds: [id], ...everything })),
    )
    expect(found.map((rows) => rows.map((row) => row.contact_id))).toEqual(contacts.map((id) => [id]))
    const walks = await lab.sql<{ n: number }[]>`select n from walks`
    expect(walks.map(({ n }) => n)).toEqual([100, 100, 100])
  } finally {
    await lab.sql`drop function find_unshipped(uuid[])`
    await lab.sql`alter function find_unshipped_uncounted(uuid[]) rename to find_unshipped`
  }
})

test('a walk that fails fails for those who share it, and not for later readers', async () => {
  const business = newBusiness()
  const [row] = await save(lab, business, [{ contact_id: crypto.randomUUID() }])
  const ask = (id: string) => readUnshipped(lab.sql, { businessId: business, contactIds: [id], ...everything })
  const outcomes = await Promise.allSettled([ask('no uuid'), ask(row!.contact_id)])
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await ask(row!.contact_id)).toEqual([row])
})

test('an event that names another contact in its properties does not belong to it', async () => {
  const business = newBusiness()
  const contact_id = crypto.randomUUID()
  const properties = JSON.stringify({ contact_id, text: `"contact_id":"${contact_id}"` })
  const event = 'contact_id":"x'
  await saveLines(
    lab,
    business,
    [eventOf(business, { contact_id: crypto.randomUUID(), properties, event })].map((row) => JSON.stringify(row)),
    [contact_id],
  )
  expect(await readUnshipped(lab.sql, { businessId: business, contactIds: [contact_id], ...everything })).toEqual([])
})

type Step =
  | { kind: 'save'; of: number[]; long: boolean }
  | { kind: 'merge'; one: number; other: number }
  | { kind: 'look'; one: number; limit: number }

/** Saves, merges and reads in any order, while the shipper ships and shipped rows are deleted at once. */
test('no event is missing and none is there twice, whatever is shipped, merged and purged meanwhile', async () => {
  let shipping = true
  const shipper = (async () => {
    while (shipping) {
      await shipAll(lab)
      await lab.sql`update outbox set shipped_at = shipped_at - interval '1 minute' where shipped_at is not null`
      await purgeOutbox(lab.sql, 0)
    }
  })()
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({
      kind: fc.constant('save' as const),
      of: fc.array(fc.nat(5), { minLength: 1, maxLength: 8 }),
      long: fc.boolean(),
    }),
    fc.record({ kind: fc.constant('merge' as const), one: fc.nat(5), other: fc.nat(5) }),
    fc.record({ kind: fc.constant('look' as const), one: fc.nat(5), limit: fc.integer({ min: 1, max: 20 }) }),
  )
  const run = async (steps: Step[]) => {
    const business = newBusiness()
    const people = await Promise.all(Array.from({ length: 6 }, () => addContact(lab, business)))
    const survivor = [0, 1, 2, 3, 4, 5]
    const idsOf = (person: number) => people.filter((_, i) => survivor[i] === survivor[person])
    const recorded: { id: string; contact: string }[] = []
    const looking: Promise<void>[] = []
    for (const one of steps) {
      if (one.kind === 'save') {
        const seeds = one.of.map((n) => ({
          contact_id: people[survivor[n]!]!,
          occurred_ms: recorded.length % 7,
          ...(one.long && { properties: JSON.stringify({ text: 'long '.repeat(2000) }) }),
        }))
        const rows = await save(lab, business, seeds)
        recorded.push(...rows.map((row) => ({ id: row.event_id, contact: row.contact_id })))
      } else if (one.kind === 'merge') {
        const [a, b] = [survivor[one.one]!, survivor[one.other]!]
        if (a === b) continue
        await merge(lab, business, [people[b]!], people[a]!)
        for (const [i, s] of survivor.entries()) if (s === b) survivor[i] = a
      } else {
        looking.push(look(business, idsOf(one.one), one.limit, recorded))
      }
    }
    await Promise.all(looking)
  }
  try {
    await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), run), { numRuns: runs(15) })
  } finally {
    shipping = false
    await shipper
  }
})

async function look(
  businessId: string,
  contactIds: string[],
  limit: number,
  recorded: { id: string; contact: string }[],
): Promise<void> {
  const theirs = new Set(contactIds)
  const expected = recorded.filter(({ contact }) => theirs.has(contact)).map(({ id }) => id)
  const seen: string[] = []
  let cursor: string | null = null
  do {
    const page = await readTimeline(lab, { businessId, contactIds, limit, cursor })
    if (typeof page === 'string') throw new Error(page)
    seen.push(...page.events.map(({ eventId }) => eventId))
    cursor = page.nextCursor
  } while (cursor !== null)
  expect(new Set(seen).size).toBe(seen.length)
  const known = new Set(seen)
  expect(expected.filter((id) => !known.has(id))).toEqual([])
}
