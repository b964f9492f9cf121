/**
 * Clearing the waiting requests of an inactive business costs only what writing them down does, whatever the business
 * did before.
 */
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { uuidv7 } from 'uuidv7'
import { beforeEach, describe, expect, it } from 'vitest'
import { INACTIVE } from '../../src/stream/compose-dead-letter.ts'
import { createSuspects } from '../../workers/suspects.ts'
import { type Pipeline, batch, eventFact, openPipeline, track } from '../support/facts.ts'
import { atLoad } from '../support/at-load.ts'
import { createBusiness, openStack } from '../support/stack.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)
let pipeline: Pipeline
let inactive: string
let lines: string[]
beforeEach(async () => {
  const partition = `clear-${uuidv7()}`
  pipeline = await openPipeline(stack.sql, partition)
  lines = []
  const written = new Writable({ write: (line, _, done) => done(void lines.push(String(line))) })
  Object.assign(pipeline.deps, { log: pino(written), suspectsOf: createSuspects() })
  ;({ businessId: inactive } = await createBusiness(stack.sql))
  await stack.sql`update businesses set active = false, config_version = config_version + 1 where id = ${inactive}`
  // One of its contacts has failed so often that it is no longer tried, and so has the business as a whole.
  for (let n = 0; n < 4; n += 1)
    await stack.sql`insert into dead_letters (id, business_id, partition, stream_id, kind, reason, payload, suspect)
      values (${uuidv7()}, ${inactive}, ${partition}, '0-1', 'track', 'spoilt', '{}', ${inactive})`
})

const letters = async () =>
  await stack.sql<{ count: number }[]>`
    select count(*)::int as count from dead_letters where business_id = ${inactive} and reason = ${INACTIVE}`
const person = (n: number) =>
  eventFact(
    'e',
    { email: `p${n}@x.io` },
    { idempotencyKey: uuidv7(), properties: JSON.stringify({ page: 'x'.repeat(200) }) },
  )

describe('what a business that fails all the time has waiting when it is made inactive', () => {
  it('is set aside as inactive, not as what it failed with, and its callers are answered so', async () => {
    const { businessId: active } = await createBusiness(stack.sql)
    const calls = [track(inactive, person(1)), track(active, person(1)), batch(inactive, [person(2), person(3)])]
    const refused = { failed: true, inactive: true }
    expect(await pipeline.apply(...calls)).toMatchObject([refused, { isNew: true }, refused])
    expect(await letters()).toEqual([{ count: 3 }])
  })

  it('is cleared at 20,000 items within 2 s, with one line in the log for each micro-batch', async () => {
    const batches = Array.from({ length: 20 }, (_, at) =>
      [0, 1].map((half) =>
        batch(
          inactive,
          Array.from({ length: 500 }, (_, n) => person(at * 1000 + half * 500 + n)),
        ),
      ),
    )
    const began = performance.now()
    for (const calls of batches) await pipeline.apply(...calls)
    const took = performance.now() - began
    expect(await letters()).toEqual([{ count: 20_000 }])
    expect(lines.length).toBe(batches.length)
    expect(took).toBeLessThan(atLoad(2000))
  })
})
