import { expect, it } from 'vitest'
import { createSemaphores } from '../../src/async/semaphore.ts'

it('limits the tasks of each key by itself', async () => {
  const semaphores = createSemaphores(2)
  const events: string[] = []
  const ends = new Map<string, () => void>()
  const start = (key: string, name: string) =>
    semaphores.run(key, async () => {
      events.push(name)
      await new Promise<void>((resolve) => ends.set(name, resolve))
    })
  const tasks = [start('a', 'a1'), start('a', 'a2'), start('a', 'a3'), start('b', 'b1')]
  await Promise.resolve()
  expect(events).toEqual(['a1', 'a2', 'b1'])
  ends.get('a1')?.()
  await tasks[0]
  expect(events).toEqual(['a1', 'a2', 'b1', 'a3'])
  for (const end of ends.values()) end()
  await Promise.all(tasks)
})

it('lets the next task run after one that fails', async () => {
  const semaphores = createSemaphores(1)
  const failed = semaphores.run('a', () => Promise.reject(new Error('no')))
  const next = semaphores.run('a', () => Promise.resolve('done'))
  await expect(failed).rejects.toThrow('no')
  expect(await next).toBe('done')
})
