import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createBatcher } from '../../src/async/batcher.ts'

/** Opens a batcher that doubles numbers and fails for 13. `batches` lists the keys of each call. */
function openDoubler(most = 3) {
  const batches: number[][] = []
  const gates: (() => void)[] = []
  const batcher = createBatcher<number, number>(
    async (keys) => {
      batches.push(keys)
      await new Promise<void>((resolve) => gates.push(resolve))
      if (keys.includes(13)) throw new Error('unlucky')
      return keys.map((key) => key * 2)
    },
    { most },
  )
  const open = async () => {
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, 0))
      const gate = gates.shift()
      if (gate === undefined) return
      gate()
    }
  }
  return { ...batcher, batches, open }
}

it('does at once what is asked for in one turn, and each gets its own result', async () => {
  const { run, batches, open } = openDoubler()
  const asked = Promise.all([run(1), run(2)])
  await open()
  expect(await asked).toEqual([2, 4])
  expect(batches).toEqual([[1, 2]])
})

it('collects what is asked for while a batch runs, up to a size', async () => {
  const { run, batches, open } = openDoubler()
  const first = run(1)
  await Promise.resolve()
  await Promise.resolve()
  const others = Promise.all([2, 3, 4, 5].map(run))
  await open()
  expect([await first, ...(await others)]).toEqual([2, 4, 6, 8, 10])
  expect(batches).toEqual([[1], [2, 3, 4], [5]])
  const later = run(6)
  await open()
  expect(await later).toBe(12)
})

it('tries each alone when a batch fails, and one that fails then fails for itself', async () => {
  const { run, batches, open } = openDoubler()
  const asked = Promise.allSettled([run(1), run(13), run(2)])
  await open()
  expect((await asked).map((one) => (one.status === 'fulfilled' ? one.value : String(one.reason)))).toEqual([
    2,
    'Error: unlucky',
    4,
  ])
  expect(batches).toEqual([[1, 13, 2], [1], [13], [2]])
})

it('fails when a result is missing', async () => {
  const { run } = createBatcher<number, number>(async () => [], { most: 1 })
  await expect(run(1)).rejects.toThrow('0 results for 1 keys')
})

describe('with `gather`', () => {
  const openGathering = (ms = 60) => {
    const batches: number[][] = []
    const echo = async (keys: number[]) => {
      batches.push(keys)
      return keys
    }
    return { ...createBatcher<number, number>(echo, { most: 4, gather: { enough: 3, ms } }), batches }
  }
  const after = async (ms: number, ask: () => Promise<number>) => {
    await sleep(ms)
    return ask()
  }

  it('few requests wait for more', async () => {
    const { run, batches } = openGathering()
    expect(await Promise.all([run(1), after(5, () => run(2))])).toEqual([1, 2])
    expect(batches).toEqual([[1, 2]])
  })

  it('enough requests do not wait, whether they come at once or one after the other', async () => {
    const { run, batches } = openGathering(600_000)
    await Promise.all([run(1), run(2), run(3)])
    await Promise.all([run(4), after(1, () => run(5)), after(2, () => run(6))])
    expect(batches).toEqual([
      [1, 2, 3],
      [4, 5, 6],
    ])
  })

  it('no batch is larger than allowed', async () => {
    const { run, batches } = openGathering()
    await Promise.all(Array.from({ length: 9 }, (_, key) => run(key)))
    expect(batches).toEqual([[0, 1, 2, 3], [4, 5, 6, 7], [8]])
  })
})
