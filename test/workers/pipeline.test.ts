/** Faults between load and save: bad data, exceptions, lost replies, other owners (design, promises 2 and 6). */
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { uuidv7 } from 'uuidv7'
import type { Sql } from '../../src/stores/postgres.ts'
import type { TrackAnswer } from '../../src/stream/entry.ts'
import type { MicroBatch } from '../../src/stream/micro-batch.ts'
import { NOW, type Pipeline, batch, eventFact, identify, identifyFact, openPipeline, track } from '../support/facts.ts'
import { applyMicroBatch } from '../../workers/pipeline.ts'
import { readPeople } from '../support/read-people.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { atLoad } from '../support/at-load.ts'
import { useOpened } from '../support/use-opened.ts'

const ANN = { email: 'ann@x.io' }
const stack = useOpened(openStack)
let pipeline: Pipeline
let businessId: string
beforeEach(async () => {
  pipeline = await openPipeline(stack.sql, `faults-${uuidv7()}`)
  // Even on a busy machine, a search gets down to single items.
  pipeline.deps.searchMs = 20_000
  ;({ businessId } = await createBusiness(stack.sql))
})

const deadLetters = () =>
  stack.sql<{ business_id: string | null; kind: string; reason: string; payload: string }[]>`
    select business_id, kind, reason, payload from dead_letters order by created_at, id desc`
const count = async () =>
  (await readPeople(stack.sql, businessId)).reduce((sum, p) => sum + (p.events['e']?.[2] ?? 0), 0)

/** The first call of `save_changes` is executed by Postgres, but its reply is lost. */
function losingReply(sql: Sql): Sql {
  let lost = false
  const wrapped = (strings: TemplateStringsArray, ...values: never[]) => {
    const query = sql(strings, ...values)
    if (lost || !strings[0]?.includes('save_changes')) return query
    lost = true
    return query.then(() =>
      Promise.reject(Object.assign(new Error('connection closed'), { code: 'CONNECTION_CLOSED' })),
    )
  }
  return wrapped as unknown as Sql
}

/** Before each of the first `times` saves, another session changes Ann. */
function meddling(sql: Sql, times: number): Sql {
  let left = times
  const wrapped = async (strings: TemplateStringsArray, ...values: never[]) => {
    if (strings[0]?.includes('save_changes') && left > 0) {
      left -= 1
      await sql`update contacts set version = version + 1 where business_id = ${businessId}`
    }
    return sql(strings, ...values)
  }
  return wrapped as unknown as Sql
}

describe('a contact that others change all the time', () => {
  it('is waited for: what was sent about it is never taken for a fault of data', async () => {
    await stack.sql`delete from dead_letters`
    await pipeline.track(track(businessId, eventFact('e', ANN)))
    pipeline.deps.sql = meddling(stack.sql, 80)
    const answer = await pipeline.track(track(businessId, eventFact('e', ANN)))
    expect(answer).toMatchObject({ isNew: false })
    expect(await deadLetters()).toEqual([])
    expect(await count()).toBe(2)
  })
})

describe('an item that Postgres refuses', () => {
  it('becomes a dead letter; its neighbours and its key are unharmed', async () => {
    await stack.sql`delete from dead_letters`
    // Values that the front door never sends: an instant beyond bigint, and text with NUL.
    const good = (n: number) => eventFact('e', { email: `${n}@x.io` })
    const bad = eventFact('e', { email: 'bad@x.io' }, { occurredAt: 1e300, idempotencyKey: 'free' })
    const nul = eventFact('e', { email: 'nul\u0000@x.io' })
    const outcome = await pipeline.apply(
      ...[1, 2, 3].map((n) => track(businessId, good(n))),
      track(businessId, bad),
      batch(businessId, [good(4), nul, good(5)]),
      ...[6, 7].map((n) => track(businessId, good(n))),
    )
    expect(await count()).toBe(7)
    expect(outcome[3]).toEqual({ failed: true })
    expect(outcome[4]).toMatchObject({
      items: [{ index: 0, deduped: false }, { index: 1, error: expect.any(String) as string }, { index: 2 }],
    })
    const letters = await deadLetters()
    expect(letters.map((letter) => letter.kind).toSorted()).toEqual(['batch', 'track'])
    const kept = JSON.parse(letters.find((letter) => letter.kind === 'batch')!.payload) as {
      items: { index: number }[]
    }
    expect(kept.items.map((item) => item.index)).toEqual([1])
    const again = await pipeline.track(track(businessId, eventFact('e', ANN, { idempotencyKey: 'free' })))
    expect(again.deduped).toBe(false)
  })

  it('is found too when a rule throws', async () => {
    await stack.sql`delete from dead_letters`
    const [good, thrown, unknown] = await pipeline.apply(
      track(businessId, eventFact('e', ANN)),
      track(businessId, eventFact('e', {})),
      track(uuidv7(), eventFact('e', ANN)),
    )
    expect(good).toMatchObject({ isNew: true })
    expect([thrown, unknown]).toEqual([{ failed: true }, { failed: true }])
    expect((await deadLetters()).map((letter) => letter.reason).toSorted()).toEqual([
      'the business does not exist',
      'the identity has no field',
    ])
  })

  it('is kept even when its business id is not valid', async () => {
    await stack.sql`delete from dead_letters`
    const [good, bad, replay] = await pipeline.apply(
      track(businessId, eventFact('e', ANN)),
      track('no id', eventFact('e', { email: 'bad@x.io' })),
      { ...track(businessId, eventFact('e', ANN)), replayOf: 'no id' },
    )
    expect([good, bad, replay]).toMatchObject([{ isNew: true }, { failed: true }, { isNew: false }])
    expect(await deadLetters()).toMatchObject([{ business_id: null, kind: 'track' }])
  })

  it('does not stop the entries beside it that could not be read', async () => {
    await stack.sql`delete from dead_letters`
    const made = pipeline.microBatch(track(businessId, eventFact('e', ANN)))
    made.poisoned.push({ streamId: made.to, reason: 'no key \u0000', payload: '\u0000\ud800{' })
    expect(await pipeline.run(made)).toMatchObject({ kind: 'applied' })
    expect(await deadLetters()).toMatchObject([
      { business_id: null, kind: 'unreadable', reason: 'no key \ufffd', payload: '\ufffd\ufffd{' },
    ])
    expect(await count()).toBe(1)
  })

  it('is deleted by the save that applies its replay', async () => {
    await stack.sql`delete from dead_letters`
    const id = uuidv7()
    await stack.sql`insert into dead_letters (id, business_id, partition, stream_id, kind, reason, payload)
      values (${id}, ${businessId}, 'p', '0-1', 'track', 'r', '{}')`
    await pipeline.apply({ ...track(businessId, eventFact('e', ANN)), replayOf: id })
    expect(await deadLetters()).toEqual([])
  })
})

describe('very many items that cannot be applied', () => {
  /** Adds each statement to `statements`. */
  function noting(sql: Sql, statements: string[]): Sql {
    const wrapped = (strings: TemplateStringsArray, ...values: never[]) => {
      statements.push(strings.join('?'))
      return sql(strings, ...values)
    }
    return wrapped as unknown as Sql
  }
  const good = (n: number) => track(businessId, eventFact('e', { email: `${n}@x.io` }))
  const refused = (n: number) => track(businessId, eventFact('e', { email: `${n}@x.io` }, { occurredAt: 1e300 }))
  const thrown = (n: number) => track(businessId, eventFact('e', {}, { idempotencyKey: `${n}` }))

  it('are found in one search, which reports its progress all the time', async () => {
    await stack.sql`delete from dead_letters`
    const isBad = (n: number) => n === 3 || (n >= 40 && n < 80)
    const calls = Array.from({ length: 120 }, (_, n) => (isBad(n) ? refused(n) : good(n)))
    const statements: string[] = []
    const sinceBeat: string[] = []
    let most = 0
    pipeline.deps.sql = noting(noting(stack.sql, statements), sinceBeat)
    const beat = () => {
      most = Math.max(most, sinceBeat.length)
      sinceBeat.length = 0
    }
    const outcome = await applyMicroBatch(
      pipeline.deps,
      pipeline.microBatch(...calls),
      AbortSignal.timeout(20_000),
      beat,
    )
    if (outcome.kind !== 'applied') throw new Error(outcome.kind)
    expect(outcome.answers.map(({ answer }) => 'failed' in answer)).toEqual(calls.map((_, n) => isBad(n)))
    expect(await count()).toBe(79)
    expect(await deadLetters()).toHaveLength(41)
    // About one for each neighbour.
    expect(statements.filter((statement) => statement.includes('save_changes')).length).toBeLessThan(41 + 30)
    // The business, the rest of a load, and a save.
    expect(most).toBeLessThanOrEqual(3)
  })

  it('do not make the loop count as alive when Postgres saves nothing at all', async () => {
    const statements: string[] = []
    pipeline.deps.sql = noting(stack.sql, statements)
    await stack.sql`create function fill_disk() returns trigger language plpgsql as
      $$ begin raise 'No space left on device' using errcode = '53100'; end $$`
    await stack.sql`create trigger fill_disk before update on positions execute function fill_disk()`
    try {
      const beat = vi.fn<() => void>()
      const made = pipeline.microBatch(good(1))
      expect(await applyMicroBatch(pipeline.deps, made, AbortSignal.timeout(3000), beat)).toEqual({ kind: 'stopped' })
      expect(statements.filter((statement) => statement.includes('save_changes')).length).toBeGreaterThan(1)
      expect(beat).not.toHaveBeenCalled()
    } finally {
      await stack.sql`drop trigger fill_disk on positions`
      await stack.sql`drop function fill_disk`
    }
  })

  it('are set aside together when their business is not there', async () => {
    const statements: string[] = []
    pipeline.deps.sql = noting(stack.sql, statements)
    const gone = uuidv7()
    const calls = Array.from({ length: 100 }, (_, n) => track(gone, eventFact('e', { email: `${n}@x.io` })))
    const answers = await pipeline.apply(...calls, good(1))
    expect(answers.slice(0, -1)).toEqual(calls.map(() => ({ failed: true })))
    expect(answers.at(-1)).toMatchObject({ isNew: true })
    expect(statements).toHaveLength(3)
  })

  it.each([
    ['of which a rule throws', thrown],
    ['that Postgres refuses', refused],
  ])('%s do not delay the end of their loop', async (_, call) => {
    await stack.sql`delete from dead_letters`
    const stop = new AbortController()
    let beats = 0
    const beat = () => {
      beats += 1
      if (beats === 5) stop.abort()
    }
    const made = pipeline.microBatch(...Array.from({ length: 20 }, (_, n) => call(n)))
    expect(await applyMicroBatch(pipeline.deps, made, stop.signal, beat)).toEqual({ kind: 'stopped' })
    // The work in progress is finished.
    expect(beats).toBeLessThanOrEqual(6)
    expect(await deadLetters()).toEqual([])
  })
})

describe('a contact with very many tags', () => {
  it('gets more of them in no time', async () => {
    await pipeline.track(track(businessId, eventFact('e', ANN)))
    await stack.sql`update contacts set tags = array(select 'kept ' || n from generate_series(1, 100000) n)
      where business_id = ${businessId}`
    const facts = Array.from({ length: 500 }, (_, n) =>
      eventFact('e', ANN, { tags: Array.from({ length: 50 }, (_, m) => `new ${n} ${m}`) }),
    )
    const started = performance.now()
    await pipeline.batch(batch(businessId, facts))
    expect(performance.now() - started).toBeLessThan(atLoad(5000))
  })
})

describe('a save whose reply is lost', () => {
  it('counts as committed: its own answers go out, nothing is applied twice', async () => {
    const made = pipeline.microBatch(track(businessId, eventFact('e', ANN, { value: 3 })))
    pipeline.deps.sql = losingReply(stack.sql)
    const outcome = await pipeline.run(made)
    if (outcome.kind !== 'applied') throw new Error(outcome.kind)
    const answer = outcome.answers[0]?.answer as TrackAnswer
    expect(answer).toMatchObject({ isNew: true, deduped: false })
    const people = await stack.sql`select id from contacts where business_id = ${businessId}`
    expect(people.map((row) => String(row['id']))).toEqual([answer.contactId])
    expect(await count()).toBe(1)
  })
})

it('a choice whose reply was lost is known to the cache', async () => {
  const call = () => pipeline.identify(identify(businessId, identifyFact(ANN)))
  await call()
  const { contactId } = await call()
  const channels = { email: true }
  pipeline.deps.sql = losingReply(stack.sql)
  await pipeline.apply({ kind: 'subscribe', businessId, receivedAt: NOW, contactId, method: 'form', channels })
  pipeline.deps.sql = stack.sql
  expect((await call()).subscriptions.email).toBe(true)
})

describe('an owner that was replaced', () => {
  it('writes nothing', async () => {
    const made = pipeline.microBatch(track(businessId, eventFact('e', ANN)))
    await stack.sql`update positions set epoch = epoch + 1 where partition = ${made.partition}`
    expect(await pipeline.run(made)).toEqual({ kind: 'fenced' })
    expect(await count()).toBe(0)
  })

  it('does not repeat what is done according to the position of the batch', async () => {
    const made: MicroBatch = pipeline.microBatch(track(businessId, eventFact('e', ANN)))
    await pipeline.run(made)
    expect(await pipeline.run(made)).toEqual({ kind: 'fenced' })
    expect(await count()).toBe(1)
  })
})

describe('a restart of Postgres', () => {
  it('in the middle of saves loses and doubles nothing', async () => {
    const workers = await Promise.all(Array.from({ length: 4 }, () => openPipeline(stack.sql, `restart-${uuidv7()}`)))
    const cutting = (async () => {
      for (let cut = 0; cut < 8; cut += 1) {
        // As a restart does: every other session ends, whatever it is doing.
        await stack.sql`select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()`.catch(() => undefined)
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    })()
    const rounds = 25
    await Promise.all(
      workers.map(async (worker) => {
        for (let n = 0; n < rounds; n += 1)
          await worker.apply(
            track(businessId, eventFact('e', ANN, { value: 1 })),
            track(businessId, eventFact('e', { email: `${n}@x.io` })),
          )
      }),
    )
    await cutting
    expect(await count()).toBe(workers.length * rounds * 2)
    const ann = (await readPeople(stack.sql, businessId)).find((person) => person.identities.includes('email:ann@x.io'))
    expect(ann?.revenue).toEqual({ USD: String(workers.length * rounds) })
  })
})
