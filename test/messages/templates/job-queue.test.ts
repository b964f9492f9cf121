import { expect, it } from 'vitest'
import { MAX_OF_BUSINESS, MAX_WAITING, createJobQueue } from '../../../src/messages/templates/job-queue.ts'
import { createRenderService } from '../../../src/messages/templates/renderer.ts'

it('lets businesses take turns, each with its oldest job', () => {
  const queue = createJobQueue<string>()
  for (const job of ['a1', 'a2', 'a3']) queue.add('a', job)
  queue.add('b', 'b1')
  const taken = [queue.take(), queue.take()]
  queue.add('c', 'c1')
  queue.add('b', 'b2')
  while (queue.size() > 0) taken.push(queue.take())
  expect(taken).toEqual(['a1', 'b1', 'a2', 'c1', 'b2', 'a3'])
  expect([queue.take(), queue.size()]).toEqual([undefined, 0])
})

it('takes a limited number of jobs of one business, and of all together', () => {
  const queue = createJobQueue<number>()
  const added = Array.from({ length: MAX_OF_BUSINESS + 1 }, (_, n) => queue.add('a', n))
  expect(added).toEqual([...Array.from({ length: MAX_OF_BUSINESS }, () => true), false])
  for (let n = MAX_OF_BUSINESS; n < MAX_WAITING; n += 1) expect(queue.add(`other-${n}`, n)).toBe(true)
  expect([queue.add('new', 0), queue.size()]).toEqual([false, MAX_WAITING])
  queue.take()
  expect(queue.add('new', 0)).toBe(true)
})

it('refuses what is one too many, and does the others', async () => {
  const service = createRenderService()
  try {
    const renderer = service.of('a')
    // One job runs; the thread is started for it.
    const jobs = Array.from({ length: MAX_OF_BUSINESS }, () => renderer.check([]))
    await expect(renderer.check([])).rejects.toMatchObject({ code: 'unavailable', headers: { 'retry-after': '5' } })
    expect(await service.of('b').check([])).toEqual({ kind: 'checked', faults: [] })
    expect(await Promise.all(jobs)).toHaveLength(MAX_OF_BUSINESS)
  } finally {
    await service.close()
  }
})

it('takes the next job only when it fits', () => {
  const queue = createJobQueue<string>()
  queue.add('a', 'large')
  queue.add('b', 'small')
  const isSmall = (job: string) => job === 'small'
  expect([queue.take(isSmall), queue.take(), queue.take(isSmall)]).toEqual([undefined, 'large', 'small'])
})

it('takes jobs that were put back before others of their business, in its next turn', () => {
  const queue = createJobQueue<string>()
  for (const job of ['a1', 'a2', 'a3']) queue.add('a', job)
  queue.add('b', 'b1')
  const [a1, b1, a2] = [queue.take(), queue.take(), queue.take()]
  expect([a1, b1, a2]).toEqual(['a1', 'b1', 'a2'])
  queue.add('c', 'c1')
  queue.putBack('a', 'a2')
  queue.putBack('b', 'b1')
  expect([queue.take(), queue.take(), queue.take(), queue.take()]).toEqual(['a2', 'c1', 'b1', 'a3'])
  expect(queue.size()).toBe(0)
})
