import { expect, it } from 'vitest'
import { MAX_OF_BUSINESS, MAX_WAITING, createJobQueue } from '../../../src/messages/templates/job-queue.ts'
import { RendererBusy, createRenderService } from '../../../src/messages/templates/renderer.ts'

it('lets businesses take turns, each with its oldest job', () => {
  const queue = createJobQueue<string>()
  for (const job of ['a1', 'a2', 'a3']) queue.add('a', job)
  queue.add('b', 'b1')
  const taken = [...queue.take(), ...queue.take()]
  queue.add('c', 'c1')
  queue.add('b', 'b2')
  while (queue.size() > 0) taken.push(...queue.take())
  expect(taken).toEqual(['a1', 'b1', 'a2', 'c1', 'b2', 'a3'])
  expect([queue.take(), queue.size()]).toEqual([[], 0])
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
    await expect(renderer.check([])).rejects.toThrow(RendererBusy)
    expect(await service.of('b').check([])).toEqual({ kind: 'checked', faults: [], dataNames: null })
    expect(await Promise.all(jobs)).toHaveLength(MAX_OF_BUSINESS)
  } finally {
    await service.close()
  }
})

it('gives a business that comes while another has its turn the next one', () => {
  const queue = createJobQueue<string>()
  for (const job of ['a1', 'a2', 'a3']) queue.add('a', job)
  const taken = queue.take(2)
  queue.add('b', 'b1')
  queue.putBack('a', ['a2'])
  taken.push(...queue.take(), ...queue.take(), ...queue.take())
  expect(taken).toEqual(['a1', 'a2', 'b1', 'a2', 'a3'])
})

it('takes several jobs of one business that fit together', () => {
  const queue = createJobQueue<string>()
  for (const job of ['a1', 'a2', 'a3', 'A4', 'a5']) queue.add('a', job)
  for (const job of ['B1', 'b2']) queue.add('b', job)
  const take = () => queue.take(2, (job) => /^[a-z]/.test(job))
  expect([take(), take(), take(), take(), take(), take()]).toEqual([
    ['a1', 'a2'],
    ['B1'],
    ['a3'],
    ['b2'],
    ['A4'],
    ['a5'],
  ])
  expect([queue.take(), queue.size()]).toEqual([[], 0])
})

it('takes jobs that were put back first, in the next turn of their business', () => {
  const queue = createJobQueue<string>()
  for (const job of ['a1', 'a2', 'a3']) queue.add('a', job)
  for (const job of ['b1', 'b2']) queue.add('b', job)
  expect(queue.take(2)).toEqual(['a1', 'a2'])
  queue.add('c', 'c1')
  queue.putBack('a', ['a2'])
  expect(queue.take(2)).toEqual(['b1', 'b2'])
  queue.putBack('b', ['b1', 'b2'])
  queue.putBack('b', [])
  expect([queue.take(2), queue.take(2), queue.take(2)]).toEqual([['c1'], ['a2', 'a3'], ['b1', 'b2']])
  expect(queue.size()).toBe(0)
})
