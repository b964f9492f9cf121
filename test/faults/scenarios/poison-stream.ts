import { setTimeout as sleep } from 'node:timers/promises'
import { uuidv7 } from 'uuidv7'
import { insertBusiness } from '../../../src/businesses/businesses.ts'
import { streamKey } from '../../../src/stream/keys.ts'
import { readPositions } from '../../../src/stream/partitions/positions.ts'
import { eventFact, track } from '../../support/facts.ts'
import { askAdmin } from '../run-admin.ts'
import { type Attempt, isKept } from '../ledger.ts'
import type { Scenario } from '../run-scenario.ts'
import type { World } from '../world.ts'

const PATIENCE_MS = 30_000

/** Entries that no front door wrote are mixed with valid ones. */
export const poisonStream: Scenario = {
  name: 'poisoned entries',
  frontDoorStays: true,
  async run({ world, chance, ledger, times, check }) {
    const from = Date.now()
    const nobody = uuidv7()
    const poisoned: string[] = []
    for (let round = 0; round < times(1, 10); round += 1) {
      for (const partition of (await readPositions(world.own.sql)).keys()) {
        for (const fields of [...POISON, ['d', entryOf(nobody), 'w', '{}']]) {
          const id = await world.own.redis.xadd(streamKey(partition), '*', ...fields)
          poisoned.push(`${partition} ${id}`)
        }
        await sleep(chance.below(100))
      }
    }
    await untilSetAside(world, poisoned.length)
    const letters = await listLetters(world)
    const kept = letters.map(({ partition, streamId }) => `${partition} ${streamId}`)
    check(
      poisoned.every((one) => kept.filter((other) => other === one).length === 1),
      'not every entry is a dead letter',
    )
    check(letters.length === poisoned.length, `${letters.length} dead letters of ${poisoned.length} entries`)
    check(
      letters.every(({ reason }) => reason.length > 5),
      'a dead letter has no reason',
    )
    check(isSafe(ledger.attempts(), from), 'neighbours were affected')
    await replayAndDrop(world, nobody, poisoned.length / (POISON.length + 1), check)
  },
}

async function untilSetAside({ own: { sql } }: World, wanted: number): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS
  for (;;) {
    const [row] = await sql<[{ n: number }]>`select count(*)::int as n from dead_letters`
    if (row.n >= wanted || Date.now() > deadline) return
    await sleep(50)
  }
}

const POISON: string[][] = [
  ['d', 'no JSON', 'w', '{}'],
  ['d', '{"frontDoor":"a","requests":[{"kind":"tr', 'w', '{"x":1}'],
  ['d', '{"frontDoor":"a","requests":[{"kind":"conquer","n":1}]}', 'w', '[]'],
  ['d', '{"frontDoor":"a","requests":[{"kind":"track","n":2,"businessId":7,"fact":null}]}', 'w', 'none'],
  ['d', '{"frontDoor":5,"requests":{}}'],
  ['other', 'fields \u0000 alltogether'],
]

/** A well-formed entry of a business that does not exist. It can be replayed when the business exists. */
function entryOf(businessId: string): string {
  const call = track(businessId, eventFact('found_again', { email: 'ann@poison.example' }))
  return JSON.stringify({ frontDoor: 'nobody', requests: [{ ...call, n: 1, requestId: 'r' }] })
}

const isSafe = (attempts: Attempt[], from: number): boolean =>
  attempts.every((one) => one.sentAt < from || isKept(one) || one.answer === 'under way')

interface Letter {
  deadLetterId: string
  businessId: string | null
  partition: string
  streamId: string
  reason: string
}

const listLetters = async (world: World): Promise<Letter[]> =>
  (await admin<{ deadLetters: Letter[] }>(world, 'list', '--limit', '10000')).deadLetters

async function replayAndDrop(
  world: World,
  nobody: string,
  replayable: number,
  check: (is: boolean, what: string) => void,
) {
  const id = await insertBusiness(world.own.sql, { name: 'Late' })
  await world.own.sql`update businesses set id = ${nobody} where id = ${id}`
  // A missing business is looked up again after a moment.
  await sleep(1000)
  const { results } = await admin<{ results: { outcome: string }[] }>(world, 'replay', 'all', '--business', nobody)
  check(results.length === replayable, `${results.length} dead letters were replayed, not ${replayable}`)
  check(
    results.every(({ outcome }) => outcome === 'applied'),
    `replayed: ${JSON.stringify(results)}`,
  )
  const [row] = await world.own.sql<{ count: number }[]>`
    select count from event_statistics where business_id = ${nobody} and event = 'found_again'`
  check(row?.count === replayable, `${row?.count} of ${replayable} replayed events are recorded`)
  await admin(world, 'drop', 'all')
  check((await listLetters(world)).length === 0, 'dead letters are left')
}

const admin = <Json>(world: World, ...words: string[]): Promise<Json> => askAdmin(world, 'dead-letters', ...words)
