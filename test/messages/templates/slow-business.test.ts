// @long
/** A business with slow templates delays its own messages, and hardly those of others. */
import { beforeEach, expect, it, vi } from 'vitest'
import type { JobResult } from '../../../src/messages/templates/jobs.ts'
import { type RenderService, createRenderService } from '../../../src/messages/templates/renderer.ts'
import {
  type QueuedJob,
  type ThreadOptions,
  runRenderThread,
} from '../../../src/messages/templates/run-render-thread.ts'
import { atLoad } from '../../support/at-load.ts'

let service: RenderService
/** Keeps the machine as busy, in threads of its own. */
let elsewhere: RenderService
beforeEach(() => {
  service = createRenderService()
  elsewhere = createRenderService()
  return async () => {
    await Promise.all([service.close(), elsewhere.close()])
  }
})

/** Takes time with the square of the list's length, within all limits. */
const SLOW = '{{ event.properties.list | where_exp: "item", "event.properties.list contains item" | size }}'
const LIST_OF = (length: number) => Array.from({ length }, (_, n) => `${n}`)

function render(business: string, source: string, values: object, by = service) {
  const parts = [{ name: 'text', source, isHtml: false }]
  const registers = { now: 0, language: 'en', currency: 'EUR' }
  return by.of(business).render({ key: source, parts, values, registers, textFrom: null })
}

const quick = (business: string) => render(business, 'Hello {{ contact.city }}', { contact: { city: 'Rome' } })
const slow = (business: string, length: number, by = service) =>
  render(business, SLOW, { event: { properties: { list: LIST_OF(length) } } }, by)

/** The times of messages of a business that are made one after the other, sorted. */
async function timesOf(business: string, many: number): Promise<number[]> {
  const times: number[] = []
  for (let n = 0; n < many; n += 1) {
    const started = performance.now()
    expect(await quick(business)).toMatchObject({ kind: 'rendered', parts: { text: 'Hello Rome' } })
    times.push(performance.now() - started)
  }
  return times.toSorted((a, b) => a - b)
}

const median = (times: readonly number[]): number => times[Math.floor(times.length / 2)] ?? 0

/** Keeps jobs of a business waiting until the signal. All of them are rendered. */
function keepBusy(business: string, length: number, by: RenderService, signal: AbortSignal) {
  const busy = { ended: 0, done: Promise.resolve() as Promise<unknown> }
  const go = async () => {
    while (!signal.aborted) {
      const { kind } = await slow(business, length, by)
      expect(kind).toBe('rendered')
      busy.ended += 1
    }
  }
  busy.done = Promise.all([go(), go(), go()])
  return busy
}

/** A length of which a message takes some 300 milliseconds on this machine. */
async function findLength(): Promise<number> {
  for (let length = 500; ; length = Math.ceil(length * 1.3)) {
    const started = performance.now()
    await slow(`measured ${length}`, length)
    if (performance.now() - started > 300) return length
  }
}

/** The median time of a message of a neighbour, while two businesses with slow templates keep `by` busy. */
async function medianBeside(by: RenderService, length: number): Promise<number> {
  const stop = new AbortController()
  const slowOnes = ['slow a', 'slow b'].map((business) => keepBusy(business, length, by, stop.signal))
  try {
    // Their time is used up then, and they have a thread of their own.
    await expect.poll(() => slowOnes.every(({ ended }) => ended >= 4)).toBe(true)
    return median(await timesOf('neighbour', 60))
  } finally {
    stop.abort()
    await Promise.all(slowOnes.map(({ done }) => done))
  }
}

it('a message beside slow ones of others takes about as long as without them', async () => {
  const length = await findLength()
  const without = await medianBeside(elsewhere, length)
  // In one thread each would wait for one of both businesses: a hundred times as long and more.
  expect((await medianBeside(service, length)) / without).toBeLessThan(20)
})

it('a message that takes seconds delays others by less than one, and is made', async () => {
  const length = (await findLength()) * 3
  await timesOf('neighbour', 10)
  const long = [slow('slow', length), slow('slow', length), slow('slow', length)]
  const delayed = await timesOf('neighbour', 20)
  expect(delayed.at(-1)).toBeLessThan(atLoad(1500))
  expect(await Promise.all(long.map(async (one) => (await one).kind))).toEqual(['rendered', 'rendered', 'rendered'])
})

it('jobs that wait for a business go with it to the thread for slow ones, and each has its result', async () => {
  const length = (await findLength()) * 3
  await timesOf('neighbour', 10)
  const first = slow('slow', length)
  const rest = Array.from({ length: 12 }, () => quick('slow'))
  expect((await Promise.all([first, ...rest])).map(({ kind }) => kind)).toEqual(
    Array.from({ length: 13 }, () => 'rendered'),
  )
})

it.each(['render', 'check'] as const)(
  'a %s that is done while the main thread stands still costs nothing',
  async (kind) => {
    const onTimes = vi.fn<ThreadOptions['onTimes']>()
    const onLate = vi.fn<(late: QueuedJob) => void>()
    const thread = runRenderThread({ deadlines: { render: 500, check: 500, mjml: 500 }, onTimes, onLate })
    const parts = [{ name: 'text', source: 'Hello', isHtml: false }]
    const registers = { now: 0, language: 'en', currency: 'EUR' }
    const job =
      kind === 'check' ? { kind, parts } : { kind, key: 'hello', parts, values: {}, registers, textFrom: null }
    const run = () => new Promise<JobResult>((resolve) => thread.add({ businessId: 'business', job, resolve }))
    try {
      await run()
      const result = run()
      // It is sent by now.
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
      const until = performance.now() + 700
      while (performance.now() < until);
      expect((await result).kind).toBe(kind === 'check' ? 'checked' : 'rendered')
      expect(onLate).not.toHaveBeenCalled()
      expect(onTimes).toHaveBeenCalledTimes(2)
      expect(onTimes.mock.lastCall?.[1]).toEqual([expect.toSatisfy((ms: number) => ms < 500)])
    } finally {
      await thread.close()
    }
  },
)
