import { setTimeout as sleep } from 'node:timers/promises'
import { type Admin, startAdmin } from '../run-admin.ts'
import type { Scenario, Stage } from '../run-scenario.ts'
import { type World, PARTITIONS } from '../world.ts'

const MOST = 6

/**
 * Increases and decreases the number under load. Callers may be refused, but get no other error. The command is
 * sometimes killed half-way.
 */
export const changePartitions: Scenario = {
  name: 'number of partitions changed',
  frontDoorStays: true,
  async run(stage) {
    const { world, chance, ledger, times, check, untilServed } = stage
    const from = Date.now()
    const rounds = times(2, 12)
    for (let round = 0; round < rounds; round += 1) {
      const to = round === rounds - 1 ? PARTITIONS : await otherNumber(stage)
      if (round === 0 || chance.is(0.3)) await killHalfWay(stage, to)
      const admin = startAdmin(world, ['partitions', 'set', String(to), '--json'])
      check((await admin.ended) === 0, `the number was not changed to ${to}: ${admin.err()}`)
      check((await readNumber(world)) === to, `the number is not ${to}`)
      await untilServed(8000)
      await sleep(chance.below(300))
    }
    const hurt = ledger.attempts().filter(({ sentAt, outcome }) => sentAt >= from && outcome === 'unknown')
    const worst = hurt.filter(({ answer }) => answer !== 'under way')
    check(worst.length === 0, `${worst.length} callers got another answer than to try again: ${worst[0]?.answer}`)
  },
}

/** Redis or Postgres goes down and returns during a change. */
export const changePartitionsInTrouble: Scenario = {
  name: 'number of partitions changed while stores die',
  frontDoorStays: true,
  async run(stage) {
    const { world, chance, times, check, untilServed } = stage
    const rounds = times(2, 10)
    for (let round = 0; round < rounds; round += 1) {
      const to = round === rounds - 1 ? PARTITIONS : await otherNumber(stage)
      const admin = startAdmin(world, ['partitions', 'set', String(to)])
      await untilBegun(admin)
      await sleep(chance.below(300))
      if (round % 2 === 0) {
        await world.redis.kill()
        await world.redis.start()
      } else {
        await world.postgres.stop('SIGINT')
        await world.postgres.start()
      }
      check((await admin.ended) === 0, `the number was not changed to ${to}: ${admin.err()}`)
      await untilServed(8000)
      check((await readNumber(world)) === to, `the number is not ${to}`)
    }
  },
}

async function otherNumber({ world, chance }: Stage): Promise<number> {
  const now = await readNumber(world)
  return chance.pick(Array.from({ length: MOST }, (_, at) => at + 1).filter((number) => number !== now))
}

async function readNumber({ own: { sql } }: World): Promise<number> {
  const [row] = await sql<[{ partitions: number }]>`select partitions from partitioning`
  return row.partitions
}

async function killHalfWay({ world, chance }: Stage, to: number): Promise<void> {
  const admin = startAdmin(world, ['partitions', 'set', String(to)])
  await untilBegun(admin)
  await sleep(chance.below(150))
  admin.kill()
  await admin.ended
}

/** Waits for its first output, or its end. */
async function untilBegun(admin: Admin): Promise<void> {
  let isOver = false
  void admin.ended.finally(() => (isOver = true))
  while (!admin.err().includes('Batches are refused') && !isOver) await sleep(5)
}
