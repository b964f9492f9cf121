import { expect, it } from 'vitest'
import { createBarrier } from '../../src/async/barrier.ts'

it('lets one that is alone go on at once', async () => {
  const gather = createBarrier({ many: 1, ms: 3_600_000 })
  await gather()
})

it('lets all go on when the last one is there, and those who come later too', async () => {
  const gather = createBarrier({ many: 3, ms: 3_600_000 })
  const done: number[] = []
  const arrive = (n: number) => gather().then(() => done.push(n))
  const first = [arrive(1), arrive(2)]
  await Promise.resolve()
  expect(done).toEqual([])
  await Promise.all([...first, arrive(3), arrive(4)])
  expect(done).toEqual([1, 2, 3, 4])
})

it('waits no longer than it is to for those that do not come', async () => {
  const gather = createBarrier({ many: 2, ms: 5 })
  await gather()
})
