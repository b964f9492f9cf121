// @long
/**
 * Data that cannot be saved harms only its owner: neighbours in the same partition continue, before and after a
 * restart.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { uuidv7 } from 'uuidv7'
import { createContactCaches } from '../../src/contacts/load/contact-cache.ts'
import { type Sql, connectPostgres } from '../../src/stores/postgres.ts'
import type { DeadLetterRecord } from '../../src/stream/compose-dead-letter.ts'
import type { ApplyContext } from '../../workers/attempt.ts'
import { DRY_RUN_SETTINGS, SEARCH_MS, isResponsive } from '../../workers/find-poisoned.ts'
import { applyMicroBatch } from '../../workers/pipeline.ts'
import { MAX_KEYS, createSuspects } from '../../workers/suspects.ts'
import { type RequestContext, type Pipeline, batch, eventFact, openPipeline, track } from '../support/facts.ts'
import { type Stack, createBusiness, openStack } from '../support/stack.ts'
import { type IngestLab, businessOf, log, openIngestLab } from './ingest-lab.ts'

let stack: Stack
let dryRuns: Sql
beforeAll(async () => {
  stack = await openStack()
  dryRuns = connectPostgres(stack.databaseUrl, { max: 2, settings: DRY_RUN_SETTINGS })
  // A contact with the tag `poison 400` fails after 400 ms, and one with `slow 400` only takes 400 ms. Each attempt is
  // counted, saved or not.
  await stack.sql`create sequence spoilt`
  await stack.sql`create function spoil() returns trigger language plpgsql as $$
    declare tag text;
    begin
      foreach tag in array new.tags loop
        if tag like 'poison %' or tag like 'slow %' then perform nextval('spoilt'), pg_sleep(split_part(tag, ' ', 2)::float8 / 1000); end if;
        if tag like 'poison %' then raise 'spoilt' using errcode = '23514'; end if;
      end loop;
      return new;
    end $$`
  await stack.sql`create trigger spoil before insert or update on contacts for each row execute function spoil()`
})
afterAll(async () => {
  await dryRuns.end({ timeout: 1 })
  await stack.close()
})
beforeEach(async () => {
  await stack.sql`delete from dead_letters`
})

const call = (businessId: string, who: string, tags: string[] = []): RequestContext =>
  track(businessId, eventFact('e', { email: `${who}@x.io` }, { tags }))
const lettersOf = async (businessId: string) =>
  await stack.sql<{ reason: string; suspect: string | null }[]>`
    select reason, suspect from dead_letters where business_id = ${businessId} order by created_at, id`

/**
 * Counts the attempts to save what cannot be saved. On a busy machine, the same work takes longer, but not more
 * attempts.
 */
const countTries = async () => {
  const [{ tries }] = await stack.sql<[{ tries: number }]>`select last_value::int as tries from spoilt`
  return tries
}

/** Records each statement. */
function noting(sql: Sql, statements: string[]): Sql {
  const wrapped = (strings: TemplateStringsArray, ...values: never[]) => {
    statements.push(strings.join('?'))
    return sql(strings, ...values)
  }
  return wrapped as unknown as Sql
}

describe('a tenant that keeps sending what cannot be saved', () => {
  let lab: IngestLab
  beforeEach(async () => {
    lab = await openIngestLab(stack.sql, stack.redisUrl)
  })
  afterEach(() => lab.close())

  const worker = (owner: string) => {
    const deps = {
      sql: stack.sql,
      dryRuns,
      log,
      configs: new Map(),
      contactsOf: createContactCaches(),
      suspectsOf: createSuspects(),
    }
    return lab.worker(owner, { apply: (...batch) => applyMicroBatch(deps, ...batch) })
  }
  const businessIn = async (partition: string): Promise<string> => {
    const { businessId } = await createBusiness(stack.sql)
    const id = businessOf(partition)
    await stack.sql`delete from api_keys where business_id = ${businessId}`
    await stack.sql`update businesses set id = ${id} where id = ${businessId}`
    return id
  }

  it('delays its neighbours by only a few of its tries, also right after a restart', async () => {
    const [hostile, polite] = [await businessIn('live-0'), await businessIn('live-0')]
    const frontDoor = await lab.frontDoor({ answerTimeoutMs: 20_000 })
    const submit = (one: RequestContext) => frontDoor.submit({ ...one, requestId: 'r' })
    const flood = new AbortController()
    const flooding = Array.from({ length: 10 }, async (_, nth) => {
      for (let n = 0; !flood.signal.aborted; n += 1) await submit(call(hostile, `h${nth}-${n % 3}`, ['poison 300']))
    })
    const delays: number[] = []
    const bePolite = async (forMs: number) => {
      const until = performance.now() + forMs
      while (performance.now() < until) {
        const before = await countTries()
        expect(await submit(call(polite, 'p'))).toMatchObject({ kind: 'answered', answer: { deduped: false } })
        delays.push((await countTries()) - before)
      }
    }
    const first = worker('a')
    await bePolite(6000)
    const most = { before: Math.max(...delays.splice(0, delays.length)), after: 0 }
    await first.stop()
    worker('b')
    await bePolite(4000)
    most.after = Math.max(...delays)
    flood.abort()
    await Promise.all(flooding)
    // At 300 ms each, less than two seconds.
    expect(most.before).toBeLessThanOrEqual(6)
    expect(most.after).toBeLessThanOrEqual(6)
    expect(await lettersOf(polite)).toEqual([])
    expect((await lettersOf(hostile)).length).toBeGreaterThan(20)
  })
})

describe('a contact or business that has failed', () => {
  let pipeline: Pipeline
  let hostile: string
  let polite: string
  let statements: string[]
  beforeEach(async () => {
    pipeline = await openPipeline(stack.sql, `contagion-${uuidv7()}`, SEARCH_MS)
    statements = []
    restart()
    ;({ businessId: hostile } = await createBusiness(stack.sql))
    ;({ businessId: polite } = await createBusiness(stack.sql))
  })
  /** Simulates a restart: everything that the worker remembered is gone. */
  const restart = (): void => {
    pipeline.deps.dryRuns = noting(dryRuns, statements)
    pipeline.deps.suspectsOf = createSuspects()
  }
  const countDryRuns = () =>
    statements.splice(0, statements.length).filter((one) => one.includes('save_changes')).length

  it('is tried apart first, and after three failures not at all for a while, restart or not', async () => {
    const round = () =>
      pipeline.apply(call(polite, 'p'), call(hostile, 'h', ['poison 0']), call(hostile, 'good'), call(polite, 'q'))
    const outcome = [{ deduped: false }, { failed: true }, { deduped: false }, { deduped: false }]
    for (let n = 0; n < 3; n += 1) {
      expect(await round()).toMatchObject(outcome)
      expect(countDryRuns()).toBeGreaterThan(0)
      restart()
    }
    const reasons = await lettersOf(hostile)
    expect(reasons.map(({ reason }) => reason)).toEqual(['spoilt', 'spoilt', 'spoilt'])
    expect(await round()).toMatchObject(outcome)
    // The rest of the business is still tried separately.
    expect(countDryRuns()).toBe(1)
    expect((await lettersOf(hostile)).at(-1)).toEqual({
      reason: expect.stringContaining('keeps failing') as string,
      suspect: null,
    })
    // A minute later it is tried again.
    await stack.sql`update dead_letters set created_at = created_at - interval '61 seconds'`
    restart()
    expect(await round()).toMatchObject(outcome)
    expect((await lettersOf(hostile)).filter(({ reason }) => reason === 'spoilt')).toHaveLength(4)
    // Dead letters that an operator has dropped, or that are old, do not make a suspect.
    await stack.sql`update dead_letters set created_at = created_at - interval '11 minutes'`
    restart()
    countDryRuns()
    expect(await pipeline.apply(call(hostile, 'h'), call(polite, 'p'))).toMatchObject([{ deduped: false }, {}])
    expect(countDryRuns()).toBe(0)
  })

  it('is tried apart also when nothing is beside it: what waits behind it is not held up by a slow save', async () => {
    const outcome = [{ failed: true }, { deduped: false }]
    expect(await pipeline.apply(call(hostile, 'h', ['poison 0']), call(polite, 'p'))).toMatchObject(outcome)
    countDryRuns()
    expect(await pipeline.apply(call(hostile, 'a'), call(hostile, 'b'))).toMatchObject([{ deduped: false }, {}])
    expect(countDryRuns()).toBe(1)
    expect(await pipeline.apply(call(hostile, 'a'), call(polite, 'p'))).toMatchObject([{ deduped: false }, {}])
    expect(countDryRuns()).toBe(1)
  })

  it('is set aside as a whole when there is no time to search it', async () => {
    const calls = Array.from({ length: 40 }, (_, n) => call(hostile, `h${n}`, n % 2 ? ['poison 1500'] : []))
    const before = await countTries()
    const answers = await pipeline.apply(call(polite, 'p'), ...calls, call(polite, 'q'))
    // The save that failed, and the dry run that was cancelled.
    expect((await countTries()) - before).toBeLessThanOrEqual(3)
    expect([answers[0], answers.at(-1)]).toMatchObject([{ deduped: false }, { deduped: false }])
    const letters = await lettersOf(hostile)
    expect(letters).toHaveLength(40)
    for (const letter of letters)
      expect(letter).toEqual({ reason: expect.stringContaining('longer than 1000 ms') as string, suspect: hostile })
  })

  it('does not keep its people from being erased', async () => {
    const [known] = (await pipeline.apply(call(hostile, 'known'))) as [{ contactId: string }]
    for (let n = 0; n < 3; n += 1) {
      const calls = Array.from({ length: 4 }, (_, nth) => call(hostile, `h${nth}`, ['poison 1500']))
      await pipeline.apply(...calls)
      restart()
    }
    expect(await pipeline.apply(call(hostile, 'known'))).toMatchObject([{ failed: true }])
    const { contactId } = known
    const erasure: RequestContext = { kind: 'erase', businessId: hostile, receivedAt: Date.now(), contactId }
    expect(await pipeline.apply(erasure)).toMatchObject([{ contactId }])
  })

  it('is dropped when more than 10,000 others have failed since', async () => {
    const partition = `many-${uuidv7()}`
    let now = 0
    const suspects = await createSuspects(() => now)(stack.sql, partition, 1)
    const note = (suspect: string) => {
      now += 1
      suspects.note([{ business_id: null, suspect } as DeadLetterRecord])
    }
    note('often')
    for (let n = 1; n < MAX_KEYS; n += 1) note(`${n}`)
    note('often')
    expect(suspects.isSuspect('1')).toBe(true)
    note('one more')
    expect(['1', '2', 'often', 'one more'].map((key) => suspects.isSuspect(key))).toEqual([false, true, true, true])
  })

  it('has its batch set aside within seconds, however many items a rule throws at', async () => {
    const facts = Array.from({ length: 500 }, () => eventFact('e', {}))
    const began = process.cpuUsage()
    const [answer, good] = await pipeline.apply(batch(hostile, facts), call(polite, 'p'))
    // CPU time of this process, because other programs may delay it.
    const { user, system } = process.cpuUsage(began)
    expect((user + system) / 1000).toBeLessThan(4000)
    expect(good).toMatchObject({ deduped: false })
    expect(answer).toMatchObject({ items: facts.map(() => ({ error: expect.any(String) as string })) })
    expect(await lettersOf(hostile)).toHaveLength(500)
  })
})

describe('a save that takes too long', () => {
  it('counts as a fault of its data while Postgres responds', async () => {
    const sql = connectPostgres(stack.databaseUrl, { settings: { statement_timeout: '1500' } })
    try {
      const pipeline = await openPipeline(sql, `slow-${uuidv7()}`, SEARCH_MS)
      Object.assign(pipeline.deps, { dryRuns, suspectsOf: createSuspects() })
      const [{ businessId: slow }, { businessId: quick }] = [await createBusiness(sql), await createBusiness(sql)]
      const answers = await pipeline.apply(call(quick, 'q'), call(slow, 's', ['slow 4000']), call(slow, 't'))
      expect(answers).toMatchObject([{ deduped: false }, { failed: true }, { failed: true }])
      expect((await lettersOf(slow)).length).toBe(2)
    } finally {
      await sql.end({ timeout: 1 })
    }
  })

  it('is judged by whether Postgres responds, however busy the dry runs of other partitions are', async () => {
    const batch = (await openPipeline(stack.sql, `busy-${uuidv7()}`)).microBatch()
    const others = [0, 1].map(async () => await dryRuns`select pg_sleep(0.7)`)
    await stack.sql`select 1`
    expect(await isResponsive({ sql: stack.sql, dryRuns, batch } as ApplyContext)).toBe(true)
    await Promise.all(others)
  })

  it('is blamed on no business while another session holds a lock', async () => {
    const sql = connectPostgres(stack.databaseUrl, { settings: { statement_timeout: '800' } })
    const other = await stack.sql.reserve()
    try {
      const pipeline = await openPipeline(sql, `locked-${uuidv7()}`, SEARCH_MS)
      Object.assign(pipeline.deps, { dryRuns, suspectsOf: createSuspects() })
      const { businessId } = await createBusiness(sql)
      await other`begin`
      await other`lock table contacts in access exclusive mode`
      const applying = pipeline.apply(call(businessId, 'a'), call(businessId, 'b'))
      await new Promise((resolve) => setTimeout(resolve, 4000))
      await other`commit`
      expect(await applying).toMatchObject([{ deduped: false }, { deduped: false }])
      expect(await lettersOf(businessId)).toEqual([])
    } finally {
      other.release()
      await sql.end({ timeout: 1 })
    }
  })
})
