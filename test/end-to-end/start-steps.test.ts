/** What `start` says while it starts. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { printSteps, REPEAT_MS, SHOWN_AFTER_MS } from '../../src/embedded/start-steps.ts'

describe('a step', () => {
  let lines: string[]
  let stopping: AbortController
  beforeEach(() => {
    vi.useFakeTimers()
    lines = []
    stopping = new AbortController()
  })
  afterEach(() => vi.useRealTimers())

  function begin() {
    const step = printSteps((line) => lines.push(line), stopping.signal)
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    let explain: (detail: string) => void = () => undefined
    const result = step('Starting Redis', (say) => {
      explain = say
      return promise
    })
    return { result, resolve, reject, explain }
  }

  test('that ends within a moment says nothing', async () => {
    const { result, resolve } = begin()
    await vi.advanceTimersByTimeAsync(SHOWN_AFTER_MS - 1)
    resolve('its result')
    expect(await result).toBe('its result')
    await vi.advanceTimersByTimeAsync(10 * REPEAT_MS)
    expect(lines).toEqual([])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('that takes longer is said while it runs, again and again, and when it ends', async () => {
    const { result, resolve, explain } = begin()
    await vi.advanceTimersByTimeAsync(SHOWN_AFTER_MS)
    expect(lines).toEqual(['Starting Redis …'])
    await vi.advanceTimersByTimeAsync(REPEAT_MS)
    explain('it loads its data')
    explain('it loads its data')
    await vi.advanceTimersByTimeAsync(REPEAT_MS)
    resolve('')
    await result
    expect(lines.slice(1)).toEqual([
      'Starting Redis … 11 s',
      'Starting Redis … 11 s (it loads its data)',
      'Starting Redis … 21 s (it loads its data)',
      'Starting Redis: done in 21.0 s',
    ])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('says what was known before it was shown', async () => {
    const { explain } = begin()
    explain('first')
    explain('second')
    await vi.advanceTimersByTimeAsync(SHOWN_AFTER_MS)
    expect(lines).toEqual(['Starting Redis … (second)'])
  })

  test('that fails passes its error on, and is not done', async () => {
    const { result, reject } = begin()
    const failure = result.catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(SHOWN_AFTER_MS)
    reject(new Error('no memory'))
    expect(await failure).toEqual(new Error('no memory'))
    expect(lines).toEqual(['Starting Redis …'])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('is silent once the start is asked to stop', async () => {
    const { result, resolve } = begin()
    await vi.advanceTimersByTimeAsync(SHOWN_AFTER_MS)
    stopping.abort()
    await vi.advanceTimersByTimeAsync(REPEAT_MS)
    resolve('')
    await result
    expect(lines).toEqual(['Starting Redis …'])
  })
})
