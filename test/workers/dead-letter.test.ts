/** Operators handle requests that could not be applied. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { uuidv7 } from 'uuidv7'
import {
  type DeadLetterChange,
  listDeadLetters,
  replayDeadLetter,
  replayDeadLetters,
} from '../../src/stream/dead-letter.ts'
import type { IngestRequest } from '../../src/stream/entry.ts'
import { dropDeadLetters } from '../../src/timeline/resync/drop-dead-letters.ts'
import { openStack } from '../support/stack.ts'
import { type IngestLab, applyOnce, batchOf, businessOf, event, openIngestLab } from './ingest-lab.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)
let lab: IngestLab
beforeEach(async () => {
  lab = await openIngestLab(stack.sql, stack.redisUrl)
  await stack.sql`delete from dead_letters`
})
afterEach(() => lab.close())

async function bury(payload: string, businessId: string | null = null): Promise<string> {
  const id = uuidv7()
  await stack.sql`
    insert into dead_letters (id, business_id, partition, stream_id, kind, reason, payload, received_at)
    values (${id}, ${businessId}, 'live-0', '1-0', 'track', 'out of range', ${payload}, 1)`
  return id
}

/** Replays the dead letter, and returns the request that a worker got. */
async function replay(id: string): Promise<IngestRequest | undefined> {
  const frontDoor = await lab.frontDoor()
  const requests: IngestRequest[] = []
  lab.worker('a', {
    apply: (batch) => {
      requests.push(...batch.requests.map(({ request }) => request))
      return applyOnce(stack.sql, batch)
    },
  })
  expect((await replayDeadLetter({ sql: stack.sql, submit: frontDoor.submit }, id)).kind).toBe('answered')
  return requests[0]
}

it('is listed, oldest first, of one business or of all', async () => {
  const business = uuidv7()
  const ids = [await bury('{}', business), await bury('no JSON')]
  expect((await listDeadLetters(stack.sql)).map(({ id }) => id)).toEqual(ids)
  expect(await listDeadLetters(stack.sql, { businessId: business })).toMatchObject([
    { id: ids[0], businessId: business, kind: 'track', reason: 'out of range', payload: '{}', receivedAt: 1 },
  ])
})

const BY: DeadLetterChange = { businessId: null, actor: { kind: 'command', id: 'ann', name: 'test' }, target: null }

it('is dropped once, which is recorded once', async () => {
  const id = await bury('no JSON')
  const target = uuidv7()
  const dropBoth = () => dropDeadLetters(stack.sql, { ...BY, target, details: { deadLetters: 2 } }, [id, uuidv7()])
  expect(await dropBoth()).toEqual([id])
  expect(await dropBoth()).toEqual([])
  expect(await stack.sql`select action, details from audit_log where target = ${target}`).toEqual([
    { action: 'dead-letter.drop', details: { deadLetters: 1 } },
  ])
})

it('is neither dropped nor replayed as one of another business', async () => {
  const [business, other] = [uuidv7(), uuidv7()]
  const id = await bury('no JSON', business)
  expect(await dropDeadLetters(stack.sql, { ...BY, businessId: other }, [id])).toEqual([])
  const deps = { sql: stack.sql, submit: (await lab.frontDoor()).submit }
  const replayed = async (businessId: string) => {
    const outcomes = []
    for await (const { outcome } of replayDeadLetters(deps, { ...BY, businessId }, [id])) outcomes.push(outcome)
    return outcomes
  }
  expect(await replayed(other)).toEqual(['not_found'])
  expect(await replayed(business)).toEqual(['not_replayable'])
  expect(await dropDeadLetters(stack.sql, { ...BY, businessId: business }, [id])).toEqual([id])
})

it('is replayed as of its receipt, under its own id when it has no key', async () => {
  const request = { ...event('r', businessOf('live-0')), n: 3 }
  const id = await bury(JSON.stringify(request))
  expect(await replay(id)).toEqual({
    ...request,
    n: 1,
    replayOf: id,
    fact: { ...request.fact, idempotencyKey: id },
  })
})

it('is replayed under its item’s key when it has one', async () => {
  const request = { ...event('r', businessOf('live-0')), n: 3 }
  const id = await bury(JSON.stringify({ ...request, fact: { ...request.fact, idempotencyKey: 'order-1' } }))
  expect(await replay(id)).toMatchObject({ replayOf: id, fact: { idempotencyKey: 'order-1' } })
})

it('an item of a batch is replayed alone, and stays among the past events', async () => {
  const id = await bury(JSON.stringify({ ...batchOf('past', businessOf('live-0'), 1), n: 3 }))
  expect(await replay(id)).toMatchObject({ kind: 'batch', items: [{ fact: { idempotencyKey: id } }] })
  expect(await lab.applied('backfill-0')).toEqual(['past'])
})

it('that could not be read is not replayed, and the reason is reported', async () => {
  const frontDoor = await lab.frontDoor()
  const deps = { sql: stack.sql, submit: frontDoor.submit }
  expect(await replayDeadLetter(deps, await bury('no JSON'))).toEqual({
    kind: 'not_replayable',
    reason: 'The payload is not JSON.',
  })
  expect(await replayDeadLetter(deps, await bury('{"kind":"__proto__"}'))).toEqual({
    kind: 'not_replayable',
    reason: 'The request has an unknown kind.',
  })
  expect(await replayDeadLetter(deps, uuidv7())).toEqual({ kind: 'not_found' })
})
