/** Several owners work on the same people at once, as live and backfill partitions do: callers never notice a race. */
import { beforeAll, describe, expect, it } from 'vitest'
import { uuidv7 } from 'uuidv7'
import { scrubOutbox } from '../../src/outbox/scrub-outbox.ts'
import type { Identity } from '../../src/rules/events/facts.ts'
import type { Sql } from '../../src/stores/postgres.ts'
import type { ContactAnswer, TrackAnswer } from '../../src/stream/entry.ts'
import { NOW, type Pipeline, eventFact, openPipeline, track } from '../support/facts.ts'
import { readPeople } from '../support/read-people.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)
let pipelines: Pipeline[]
beforeAll(async () => {
  pipelines = await Promise.all(Array.from({ length: 4 }, () => openPipeline(stack.sql, `race-${uuidv7()}`)))
})

/** Divides the calls among the pipelines. Each applies its share one after the other, and all run at once. */
async function race(make: (n: number) => ReturnType<typeof track>, count: number): Promise<TrackAnswer[]> {
  const shares = pipelines.map(async (pipeline, which) => {
    const answers: TrackAnswer[] = []
    for (let n = which; n < count; n += pipelines.length) answers.push(await pipeline.track(make(n)))
    return answers
  })
  return (await Promise.all(shares)).flat()
}

describe('callers that race', () => {
  it('make one person by different fields: one contact, one isNew', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { businessId } = await createBusiness(stack.sql)
      const full: Required<Omit<Identity, 'phoneRead'>> = {
        platformCustomerId: 'c1',
        email: 'a@x.io',
        phone: '972500000001',
      }
      const forms: Identity[] = [
        full,
        { email: full.email, phone: full.phone },
        { platformCustomerId: full.platformCustomerId, phone: full.phone },
        { platformCustomerId: full.platformCustomerId, email: full.email },
      ]
      const answers = await race((n) => track(businessId, eventFact('signup', forms[(n + round) % 4]!)), 40)
      const people = await readPeople(stack.sql, businessId)
      expect(people).toHaveLength(1)
      expect(people[0]?.events['signup']?.[2]).toBe(40)
      // Each contact was reported as new exactly once, including contacts that were merged later.
      const [{ made }] = await stack.sql<[{ made: number }]>`
        select count(*)::int as made from contacts where business_id = ${businessId}`
      expect(answers.filter((answer) => answer.isNew)).toHaveLength(made)
    }
  })

  it('send one idempotency key 30 times at once: recorded once', async () => {
    const { businessId } = await createBusiness(stack.sql)
    const answers = await race(
      (n) =>
        track(businessId, eventFact('paid', { email: 'a@x.io' }, { value: 5, idempotencyKey: 'k', tags: [`t${n}`] })),
      30,
    )
    expect(answers.filter((answer) => !answer.deduped)).toHaveLength(1)
    expect(answers.filter((answer) => answer.isNew)).toHaveLength(1)
    const [person] = await readPeople(stack.sql, businessId)
    expect(person).toMatchObject({ orders: 1, revenue: { USD: '5' } })
    expect(person?.events['paid']?.[2]).toBe(1)
    expect(person?.tags).toHaveLength(30)
  })

  it('merge in a ring: all end as one, nothing is lost', async () => {
    const { businessId } = await createBusiness(stack.sql)
    const size = 12
    await race((n) => track(businessId, eventFact('made', { email: `${n}@x.io` }, { value: 1 })), size)
    // Each call connects one person's email with the next one's phone, which the next call sends with its email.
    await race(
      (n) =>
        track(
          businessId,
          eventFact('bridged', { email: `${n % size}@x.io`, phone: `97250000${100 + ((n + 1) % size)}` }),
        ),
      size,
    )
    await race(
      (n) =>
        track(businessId, eventFact('joined', { email: `${n % size}@x.io`, phone: `97250000${100 + (n % size)}` })),
      size,
    )
    const people = await readPeople(stack.sql, businessId)
    expect(people).toHaveLength(1)
    expect(people[0]).toMatchObject({ revenue: { USD: String(size) }, orders: size })
    expect(people[0]?.events).toMatchObject({ made: [expect.any(Number), expect.any(Number), size] })
    expect(people[0]?.identities).toHaveLength(size * 2)
    const dangling = await stack.sql`
      select 1 from contacts l join contacts s on s.business_id = l.business_id and s.id = l.merged_into
      where l.business_id = ${businessId} and s.merged_into is not null`
    expect(dangling).toHaveLength(0)
  })

  it('and erase the person meanwhile: nothing is left under an erased id, nothing else is lost', async () => {
    const { businessId } = await createBusiness(stack.sql)
    const forms: Identity[] = [
      { email: 'a@x.io' },
      { phone: '972500000001' },
      { email: 'a@x.io', phone: '972500000001' },
    ]
    const erased = new Set<string>()
    const recorded: string[] = []
    const workers = pipelines.map(async (pipeline, which) => {
      for (let n = 0; n < 40; n += 1) {
        const fact = eventFact('e', forms[(n + which) % 3]!, {
          value: 1,
          visitorId: `v${n % 3}`,
          idempotencyKey: `${which} ${n}`,
        })
        const { contactId } = await pipeline.track(track(businessId, fact))
        recorded.push(contactId)
        if (n % 8 !== which) continue
        const [answer] = await pipeline.apply({ kind: 'erase', businessId, receivedAt: NOW, contactId })
        const { erasedIds = [] } = answer as ContactAnswer
        for (const id of erasedIds) erased.add(id)
        await scrubOutbox(stack.sql, businessId, erasedIds)
      }
    })
    await Promise.all(workers)

    const left = recorded.filter((id) => !erased.has(id)).length
    expect(erased.size).toBeGreaterThan(0)
    const people = await readPeople(stack.sql, businessId)
    expect(people.reduce((sum, person) => sum + person.orders, 0)).toBe(left)
    expect(people.reduce((sum, person) => sum + (person.events['e']?.[2] ?? 0), 0)).toBe(left)
    const [shipped] = await stack.sql<[{ events: number; gone: number }]>`
      select sum(event_count)::int as events, count(*) filter (where contact_ids && array(
        select contact_id from erasures where business_id = ${businessId}))::int as gone
      from outbox where ${businessId} = any (business_ids)`
    expect(shipped).toEqual({ events: left, gone: 0 })
    for (const table of ['identities', 'event_statistics', 'revenue', 'visitors', 'contact_visitors', 'merge_log'])
      expect([
        table,
        ...(await stack.sql`select contact_id from ${stack.sql(table)} t where business_id = ${businessId}
          and not exists (select from contacts c where c.business_id = t.business_id and c.id = t.contact_id)`),
      ]).toEqual([table])
  })

  it('create one custom field with different first types: one type, the others get a warning', async () => {
    const { businessId } = await createBusiness(stack.sql)
    const values = ['text', 5, true, '2026-01-01']
    const answers = await race(
      (n) => track(businessId, eventFact('e', { email: `${n}@x.io` }, { traits: { mixed: values[n % 4]! } })),
      20,
    )
    const fields = await stack.sql`select key, type from custom_fields where business_id = ${businessId}`
    expect(fields).toHaveLength(1)
    const warned = answers.filter((answer) => answer.warnings.length > 0).length
    const fitting = fields[0]?.['type'] === 'Text' ? 10 : 5
    expect(warned).toBe(20 - fitting)
  })

  it('add fields to two businesses, each to another of them: the saves queue up, and do not deadlock', async () => {
    const made = [await createBusiness(stack.sql), await createBusiness(stack.sql)]
    const [first, last] = made.map(({ businessId }) => businessId).toSorted() as [string, string]
    const faults: unknown[] = []
    const addField = async (pipeline: Pipeline, where: string) => {
      pipeline.deps.sql = noting(stack.sql, faults)
      const facts = [first, last].map((businessId) =>
        track(businessId, eventFact('e', { email: 'a@x.io' }, { traits: businessId === where ? { plan: 'pro' } : {} })),
      )
      await pipeline.apply(...facts)
      pipeline.deps.sql = stack.sql
    }
    const waiting = async () =>
      (await stack.sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)
        .count
    const holder = await stack.sql.reserve()
    await holder`begin`
    await holder`select from businesses where id = ${first} for no key update`
    const saves = [addField(pipelines[0]!, first)]
    await expect.poll(waiting, { timeout: PATIENCE_MS }).toBe(1)
    saves.push(addField(pipelines[1]!, last))
    await expect.poll(waiting, { timeout: PATIENCE_MS }).toBe(2)
    await holder`commit`
    holder.release()
    await Promise.all(saves)
    expect(await stack.sql`select key from custom_fields where business_id in (${first}, ${last})`).toHaveLength(2)
    // The other pipeline had read the data before the first one changed it. Only that decision is repeated.
    expect(faults).toEqual(['SL001'])
  })
})

/** Records the error codes that Postgres returns. */
function noting(sql: Sql, faults: unknown[]): Sql {
  const wrapped = (strings: TemplateStringsArray, ...values: never[]) => {
    const query = sql(strings, ...values)
    query.catch((error: { code?: string }) => faults.push(error.code))
    return query
  }
  return wrapped as unknown as Sql
}
