/** The age of the oldest request that waits for a worker. */
import { expect, it } from 'vitest'
import { readBacklogs } from '../../src/front-door/health/read-backlogs.ts'
import { streamKey } from '../../src/stream/keys.ts'
import { openStack } from '../support/stack.ts'
import { useOpened } from '../support/use-opened.ts'

const stack = useOpened(openStack)

const NOW = 1_800_000_000_000

async function ageOf(id: number, receivedAt: number | null): Promise<number | undefined> {
  const { redis } = stack
  await redis.del(streamKey('live-0'))
  const entry = receivedAt === null ? 'unknown' : `[{"receivedAt":${receivedAt}}]`
  await redis.xadd(streamKey('live-0'), `${id}-0`, 'w', entry)
  const backlogs = await readBacklogs({ ...stack, now: () => NOW })
  return backlogs.find(({ partition }) => partition === 'live-0')?.ageMs
}

it('is that of the entry, also when its request is of the past, as in the demo, or cannot be read', async () => {
  expect(await ageOf(NOW - 2000, NOW - 2010)).toBe(2000)
  expect(await ageOf(NOW - 2000, NOW - 5_000_000)).toBe(2000)
  expect(await ageOf(NOW - 2000, null)).toBe(2000)
})

it('is that of the request after the clock was set back, and never negative', async () => {
  expect(await ageOf(NOW + 3_600_000, NOW - 2000)).toBe(2000)
  expect(await ageOf(NOW + 3_600_000, NOW + 1000)).toBe(0)
})
