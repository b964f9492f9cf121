/** Any number of events, in requests of limited size: how they are divided must not affect the results. */
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type BatchEvent, type BatchProgress, Sluice } from '../../../src/sdk/node/sluice.ts'
import {
  answerWith,
  type Behaviour,
  cutJson,
  half,
  hang,
  honest,
  type HostileService,
  ODD,
  openHostileService,
  queued,
  refuse,
  reset,
  resetAfter,
  UNLUCKY,
} from './hostile-service.ts'
import { runs } from '../../support/runs.ts'
import { PATIENCE_MS } from '../../support/at-load.ts'

let stub: HostileService
let sluice: Sluice

beforeEach(() => reopen())
afterEach(async () => {
  await sluice.close(0)
  await stub.close()
})

async function reopen(): Promise<void> {
  stub = await openHostileService()
  sluice = new Sluice({ apiKey: 'sk_live_test', baseUrl: stub.url, minRetryMs: 1, maxRetryMs: 8 })
}

const makeEvent = (number: number, more: object = {}): BatchEvent => ({
  event: 'past',
  identity: { platformCustomerId: number },
  idempotencyKey: `key-${number}`,
  ...more,
})
const makeEvents = (count: number): BatchEvent[] => Array.from({ length: count }, (_, number) => makeEvent(number))

/** Yields the events, and counts those that were taken. Ends when the caller stops. */
function source(events: BatchEvent[]): AsyncGenerator<BatchEvent> & { taken: number; ended: boolean } {
  async function* read(): AsyncGenerator<BatchEvent> {
    try {
      for (const event of events) {
        generator.taken++
        yield await Promise.resolve(event)
      }
    } finally {
      generator.ended = true
    }
  }
  const generator = Object.assign(read(), { taken: 0, ended: false })
  return generator
}

const sizes = (): number[] => stub.heard.map(({ body }) => body.events.length)
const bytes = (): number[] => stub.heard.map(({ headers }) => Number(headers['content-length']))
const rest = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const ONE_BY_ONE = { chunkSize: 1, concurrency: 1 }
const EVENTUALLY = { timeout: PATIENCE_MS, interval: 5 }
const JSON_TYPE = { 'content-type': 'application/json' }

describe('events with one key', () => {
  const delayed =
    (ms: number, behave: Behaviour): Behaviour =>
    (socket, heard, record) =>
      void setTimeout(() => behave(socket, heard, record), ms)

  it('are recorded as the first of them, whatever the requests, the delays and the failures on the way', async () => {
    const behaviour = fc
      .tuple(fc.nat(12), fc.constantFrom(honest, honest, honest, reset, resetAfter, refuse(503)))
      .map(([ms, behave]) => delayed(ms, behave))
    const run = fc.record({
      keys: fc.array(fc.nat(9), { maxLength: 50 }),
      chunkSize: fc.integer({ min: 1, max: 6 }),
      concurrency: fc.integer({ min: 1, max: 8 }),
      behaviours: fc.array(behaviour, { maxLength: 30 }),
    })
    await fc.assert(
      fc.asyncProperty(run, async ({ keys, chunkSize, concurrency, behaviours }) => {
        await stub.close()
        await reopen()
        stub.behave(({ number }) => behaviours[number - 1])
        const events = keys.map((key, index) => makeEvent(key, { value: 100 + index }))
        const { settled } = await sluice.trackBatch(events, { chunkSize, concurrency })
        expect(settled).toBe(keys.length)
        const first = new Map(keys.map((key, index) => [`key-${key}`, 100 + index] as const).toReversed())
        expect(new Map(stub.recorded.map(({ idempotencyKey, value }) => [idempotencyKey, value]))).toEqual(first)
      }),
      { numRuns: runs(25) },
    )
  })

  it('wait for each other alone: other requests go out meanwhile', async () => {
    stub.behave(({ number }) => (number === 1 ? delayed(200, honest) : undefined))
    await sluice.trackBatch(
      [0, 1, 0, 2, 3].map((key) => makeEvent(key)),
      { chunkSize: 1, concurrency: 4 },
    )
    const heard = stub.heard.map(({ body }) => body.events[0]?.idempotencyKey)
    expect(new Set(heard.slice(0, 3))).toEqual(new Set(['key-0', 'key-1', 'key-2']))
    expect(new Set(heard.slice(3))).toEqual(new Set(['key-0', 'key-3']))
    expect(heard).toHaveLength(5)
  })

  it('are not sent after one whose outcome is unknown', async () => {
    stub.behave(({ number }) => (number === 1 ? refuse(403) : undefined))
    const { error } = await sluice.trackBatch([makeEvent(0), makeEvent(0)], { chunkSize: 1, concurrency: 2 })
    expect(error).toMatchObject({ status: 403 })
    expect(stub.heard).toHaveLength(1)
  })
})

describe('cutting', () => {
  const KIND = fc.constantFrom('good', 'good', 'good', 'unlucky', 'odd', 'unwritable')
  const BEHAVIOUR = fc.constantFrom<Behaviour>(
    honest,
    reset,
    resetAfter,
    half,
    cutJson,
    refuse(500),
    refuse(429, { 'retry-after': '0' }),
  )

  function makeOfKind(kind: string, number: number): BatchEvent {
    if (kind === 'unwritable') return { toJSON: () => tooOdd(number) } as unknown as BatchEvent
    return makeEvent(number, { value: kind === 'unlucky' ? UNLUCKY : kind === 'odd' ? ODD : 1 })
  }
  function tooOdd(number: number): never {
    throw new Error(`number ${number} cannot be written`)
  }
  const reasonOf = (kind: string, index: number) =>
    kind === 'unlucky' ? [{ index, error: 'unlucky' }] : [{ index, error: `number ${index} cannot be written` }]

  it('does not show, whatever the requests, the source, or the failures on the way', async () => {
    const cut = fc.record({
      kinds: fc.array(KIND, { maxLength: 60 }),
      chunkSize: fc.integer({ min: 1, max: 12 }),
      concurrency: fc.integer({ min: 1, max: 5 }),
      behaviours: fc.array(BEHAVIOUR, { maxLength: 30 }),
      asArray: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(cut, async ({ kinds, chunkSize, concurrency, behaviours, asArray }) => {
        await stub.close()
        await reopen()
        stub.behave(({ number }) => behaviours[number - 1])
        const events = kinds.map(makeOfKind)
        const reported: BatchProgress[] = []
        const onProgress = (progress: BatchProgress): unknown => reported.push(progress)
        const result = await sluice.trackBatch(asArray ? events : source(events), {
          chunkSize,
          concurrency,
          onProgress,
        })

        const failures = kinds.flatMap((kind, index) =>
          kind === 'unlucky' || kind === 'unwritable' ? reasonOf(kind, index) : [],
        )
        const warnings = kinds.flatMap((kind, index) => (kind === 'odd' ? [`item ${index}: odd`] : []))
        const good = kinds.length - failures.length
        const { recorded, deduped, ...rest } = result
        expect(recorded + deduped).toBe(good)
        expect(rest).toEqual({
          ok: failures.length === 0,
          settled: kinds.length,
          queued: 0,
          failed: failures.length,
          failures,
          warnings,
        })
        const keys = kinds.flatMap((kind, index) => (kind === 'good' || kind === 'odd' ? [`key-${index}`] : []))
        expect(stub.recorded.map(({ idempotencyKey }) => idempotencyKey).toSorted()).toEqual(keys.toSorted())
        // Outcomes are reported in the order of the events, and each failure and warning once.
        const steps = reported.map(({ settled }) => settled)
        expect(steps).toEqual(Array.from(steps, (_, step) => Math.min((step + 1) * chunkSize, kinds.length)))
        expect(reported.flatMap((one) => one.failures)).toEqual(failures)
        expect(reported.flatMap((one) => one.warnings)).toEqual(warnings)
      }),
      { numRuns: runs(15) },
    )
  })

  it.each([
    [0, []],
    [1, [1]],
    [500, [500]],
    [501, [500, 1]],
    [1000, [500, 500]],
  ])('%i events make requests of %j', async (count, expected) => {
    expect(await sluice.trackBatch(makeEvents(count))).toMatchObject({ ok: true, settled: count, recorded: count })
    expect(sizes()).toEqual(expected)
  })

  it('takes no larger chunks than the service does', async () => {
    await sluice.trackBatch(makeEvents(501), { chunkSize: 10_000 })
    expect(sizes()).toEqual([500, 1])
    await expect(sluice.trackBatch([], { chunkSize: 0 })).rejects.toThrow('chunkSize must be a number from 1 up')
  })

  it('cuts by the bytes of UTF-8, at 1 MB exactly', async () => {
    const one = makeEvent(1, { properties: { text: '' } })
    // Two events, the comma between them, and the envelope.
    const room = (1_000_000 - '{"events":[,]}'.length) / 2 - JSON.stringify(one).length
    const text = '€'.repeat(Math.floor(room / 3)) + 'x'.repeat(room % 3)
    const event = { ...one, properties: { text } }
    await sluice.trackBatch([event, event, event, { ...event, properties: { text: `${text}x` } }], { concurrency: 1 })
    expect(sizes()).toEqual([2, 1, 1])
    expect(bytes()[0]).toBe(1_000_000)
  })

  it('sends an event that fills 32 MiB by itself, and fails one that is a byte larger', async () => {
    const one = makeEvent(1, { properties: { text: '' } })
    const room = 32 * 1024 * 1024 - '{"events":[]}'.length - JSON.stringify(one).length
    const filled = { ...one, properties: { text: 'x'.repeat(room) } }
    const result = await sluice.trackBatch([
      makeEvent(0),
      filled,
      { ...filled, properties: { text: 'x'.repeat(room + 1) } },
      makeEvent(3),
    ])
    expect(result).toMatchObject({ settled: 4, recorded: 3, failed: 1 })
    expect(result.error).toBeUndefined()
    expect(result.failures).toEqual([{ index: 2, error: 'Larger than 33554432 bytes' }])
    expect(Math.max(...bytes())).toBe(32 * 1024 * 1024)
  })

  it.each<[string, unknown, string]>([
    ['null', null, 'It must be an object'],
    ['text', 'event', 'It must be an object'],
    ['a BigInt', makeEvent(1, { properties: { id: 1n } }), 'BigInt'],
    ['no amount', makeEvent(1, { value: NaN }), 'value must be a finite number'],
  ])('%s is one failure, and the others are sent', async (_what, event, message) => {
    const result = await sluice.trackBatch([makeEvent(0), event as BatchEvent, makeEvent(2)])
    expect(result).toMatchObject({ ok: false, settled: 3, recorded: 2, failed: 1 })
    expect(result.failures).toEqual([{ index: 1, error: expect.stringContaining(message) as string }])
  })

  it.each<[string, () => Iterable<BatchEvent>]>([
    ['a set', () => new Set(makeEvents(7))],
    ['a generator', () => makeEvents(7).values()],
  ])('reads %s', async (_what, make) => {
    expect(await sluice.trackBatch(make(), { chunkSize: 3 })).toMatchObject({ ok: true, recorded: 7 })
  })
})

describe('keys', () => {
  it("keeps the caller's own, and gives one to each other event", async () => {
    const without = { event: 'past', identity: { platformCustomerId: 1 } }
    await sluice.trackBatch([makeEvent(0), without, { ...without, idempotencyKey: null }])
    const [first, ...others] = stub.recorded.map(({ idempotencyKey }) => idempotencyKey)
    expect(first).toBe('key-0')
    expect(new Set(others).size).toBe(2)
    for (const key of others) expect(key).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('leaves the time of an event without one to the service', async () => {
    await sluice.trackBatch([makeEvent(0)])
    expect(stub.recorded[0]).toEqual(makeEvent(0))
  })
})

describe('visitorId', () => {
  const withVisitor = makeEvent(5, { visitorId: 'v' })

  it('is refused in an array before anything is sent', async () => {
    const events = makeEvents(10).with(5, withVisitor)
    await expect(sluice.trackBatch(events, { chunkSize: 1 })).rejects.toThrow(TypeError)
    await expect(sluice.trackBatch(events)).rejects.toThrow('Event 5: visitorId is not accepted in a batch')
    expect(stub.heard).toEqual([])
  })

  it('is refused in a source before its request is sent, and what went before is settled', async () => {
    const events = source(makeEvents(10).with(5, withVisitor))
    const reported: number[] = []
    const onProgress = ({ settled }: BatchProgress): unknown => reported.push(settled)
    const sent = sluice.trackBatch(events, { chunkSize: 2, concurrency: 1, onProgress })
    await expect(sent).rejects.toThrow('Event 5: visitorId is not accepted in a batch')
    expect([stub.recorded.length, reported, events.ended]).toEqual([4, [2, 4], true])
  })

  it('counts as not sent when it is null', async () => {
    expect(await sluice.trackBatch([makeEvent(0, { visitorId: null })])).toMatchObject({ ok: true })
  })
})

describe('what is queued', () => {
  it('is counted separately', async () => {
    stub.behave(({ number }) => (number === 2 ? queued : undefined))
    const result = await sluice.trackBatch(makeEvents(6), { chunkSize: 2, concurrency: 1 })
    expect(result).toMatchObject({ ok: true, settled: 6, recorded: 4, queued: 2, failed: 0 })
  })

  it('and what the service has refused at once', async () => {
    const data = { queued: true, received: 2, failed: 1, failures: [{ index: 1, error: 'bad' }] }
    stub.behave(({ number }) => (number === 2 ? answerWith(202, JSON_TYPE, JSON.stringify({ data })) : undefined))
    const result = await sluice.trackBatch(makeEvents(4), { chunkSize: 2, concurrency: 1 })
    expect(result).toMatchObject({
      ok: false,
      recorded: 2,
      queued: 1,
      failed: 1,
      failures: [{ index: 3, error: 'bad' }],
    })
  })

  it('is asked for again when its outcome is awaited', async () => {
    stub.behave(({ number }) => (number <= 3 ? queued : undefined))
    const waits: string[] = []
    const onWait = ({ code }: { code: string }): unknown => waits.push(code)
    const result = await sluice.trackBatch(makeEvents(2), { awaitOutcome: true, onWait })
    expect(result).toMatchObject({ ok: true, recorded: 0, deduped: 2, queued: 0 })
    expect(waits).toEqual(['queued', 'queued', 'queued'])
  })
})

describe('progress', () => {
  it('comes in the order of the events, however the answers come', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    stub.behave(({ number }) => (socket, heard, record) => {
      if (number === 1) return void promise.then(() => honest(socket, heard, record))
      honest(socket, heard, record)
      return number === 3 ? resolve() : undefined
    })
    const reported: number[] = []
    const onProgress = ({ settled }: BatchProgress): unknown => reported.push(settled)
    await sluice.trackBatch(makeEvents(6), { chunkSize: 2, concurrency: 3, onProgress })
    expect(reported).toEqual([2, 4, 6])
  })

  it('is awaited, and no more events are read than are under way', async () => {
    const events = source(makeEvents(100))
    const { promise, resolve } = Promise.withResolvers<void>()
    const sent = sluice.trackBatch(events, { chunkSize: 2, concurrency: 3, onProgress: () => promise })
    await expect.poll(() => stub.heard.length, EVENTUALLY).toBe(3)
    expect(events.taken).toBeLessThanOrEqual(2 * (3 + 1))
    resolve()
    expect(await sent).toMatchObject({ settled: 100 })
  })

  it('that throws ends it with that error, and nothing is under way then', async () => {
    stub.behave(({ number }) => (number > 1 ? hang : undefined))
    const events = source(makeEvents(100))
    const onProgress = (): never => {
      throw new Error('no more')
    }
    await expect(sluice.trackBatch(events, { chunkSize: 2, onProgress })).rejects.toThrow('no more')
    expect(events.taken).toBeLessThan(20)
    await expect.poll(() => [stub.connections() <= 1, events.ended], EVENTUALLY).toEqual([true, true])
  })
})

describe('requests under way', () => {
  it.each([
    [63, 63],
    [64, 64],
    [65, 64],
  ])('are at most 64: of %i wanted, %i', async (concurrency, most) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    stub.behave(() => (socket, heard, record) => void promise.then(() => honest(socket, heard, record)))
    const sent = sluice.trackBatch(makeEvents(130), { chunkSize: 1, concurrency })
    await expect.poll(() => stub.heard.length, EVENTUALLY).toBe(most)
    await rest(50)
    expect(stub.heard.length).toBe(most)
    resolve()
    expect(await sent).toMatchObject({ ok: true, recorded: 130 })
  })

  it('that fail together are one failure, and hold up no other call for long', async () => {
    await sluice.close(0)
    sluice = new Sluice({ apiKey: 'sk_live_test', baseUrl: stub.url, minRetryMs: 100, maxRetryMs: 30_000 })
    const { promise, resolve } = Promise.withResolvers<void>()
    stub.behave(({ number }) => {
      if (number > 64) return undefined
      if (number === 64) resolve()
      return (socket, heard, record) => void promise.then(() => refuse(503)(socket, heard, record))
    })
    const sent = sluice.trackBatch(makeEvents(64), { chunkSize: 1, concurrency: 64 })
    await promise
    await rest(50)
    const startedAt = performance.now()
    const result = await sluice.trackNow({ event: 'now', identity: { platformCustomerId: 1 } })
    expect([result.ok, performance.now() - startedAt < 1000]).toEqual([true, true])
    expect(await sent).toMatchObject({ ok: true, recorded: 64 })
  })
})

describe('an early end', () => {
  it('a refusal ends it, says why, and counts what was settled before', async () => {
    stub.behave(({ number }) => (number === 3 ? refuse(403) : undefined))
    const events = source(makeEvents(1000))
    const result = await sluice.trackBatch(events, { chunkSize: 10, concurrency: 1 })
    const error = { code: 'code_403', message: 'refused 403', retryable: false, status: 403 }
    expect(result).toMatchObject({ ok: false, settled: 20, recorded: 20, error })
    await expect.poll(() => events.ended, EVENTUALLY).toBe(true)
    expect(events.taken).toBeLessThan(50)
  })

  it('a service that is away ends it once the patience is over', async () => {
    stub.behave(({ number }) => (number > 2 ? reset : undefined))
    const result = await sluice.trackBatch(makeEvents(10), { chunkSize: 2, concurrency: 1, patienceMs: 50 })
    expect(result).toMatchObject({ ok: false, settled: 4, error: { code: 'unreachable', retryable: true, status: 0 } })
  })

  async function* slowly(events: BatchEvent[]): AsyncGenerator<BatchEvent> {
    await rest(400)
    yield* events
  }
  it.each([
    ['its source', 1, () => sluice.trackBatch(slowly(makeEvents(2)), { patienceMs: 300 })],
    [
      'its caller',
      2,
      () => sluice.trackBatch(makeEvents(2), { patienceMs: 300, ...ONE_BY_ONE, onProgress: () => rest(400) }),
    ],
  ])('the time that %s takes does not count as that of the service', async (_whose, unlucky, send) => {
    stub.behave(({ number }) => (number === unlucky ? refuse(503) : undefined))
    expect(await send()).toMatchObject({ ok: true, recorded: 2 })
  })

  it('a rate limit does not end it, however long it lasts', async () => {
    const until = Date.now() + 800
    stub.behave(() => (Date.now() < until ? refuse(429) : undefined))
    expect(await sluice.trackBatch(makeEvents(2), { patienceMs: 300 })).toMatchObject({ ok: true })
  })

  it('the pause that the service has asked for does not count', async () => {
    stub.behave(({ number }) => [refuse(429, { 'retry-after': '4' }), reset][number - 1])
    expect(await sluice.trackBatch(makeEvents(2), { patienceMs: 3800 })).toMatchObject({ ok: true })
  })

  it('a 429 in the middle holds up all requests, and is survived', async () => {
    stub.behave(({ number }) => (number === 2 ? refuse(429, { 'retry-after': '1' }) : undefined))
    const waits: number[] = []
    const onWait = ({ waitMs }: { waitMs: number }): unknown => waits.push(waitMs)
    const result = await sluice.trackBatch(makeEvents(10), { chunkSize: 2, concurrency: 1, onWait })
    expect(result).toMatchObject({ ok: true, recorded: 10 })
    expect(waits).toEqual([expect.closeTo(1000, -2) as number])
  })

  it('a signal ends it, also while the source is silent', async () => {
    const stop = new AbortController()
    async function* events(): AsyncGenerator<BatchEvent> {
      yield* makeEvents(4)
      stop.abort()
      await new Promise(() => undefined)
    }
    const result = await sluice.trackBatch(events(), { chunkSize: 2, signal: stop.signal })
    expect(result).toMatchObject({ ok: false, error: { code: 'closed', retryable: true } })
    expect(await sluice.trackBatch(makeEvents(2), { signal: stop.signal })).toMatchObject({ settled: 0, ok: false })
    expect(stub.heard.length).toBeLessThanOrEqual(2)
  })

  it('a signal ends what hangs', async () => {
    stub.behave(() => hang)
    const stop = new AbortController()
    const sent = sluice.trackBatch(makeEvents(4), { signal: stop.signal })
    await expect.poll(() => stub.heard.length, EVENTUALLY).toBe(1)
    stop.abort()
    expect(await sent).toMatchObject({ settled: 0, error: { code: 'closed' } })
    await expect.poll(() => stub.connections(), EVENTUALLY).toBe(0)
  })

  it('a source that fails ends it with that error, once what was under way is settled', async () => {
    async function* events(): AsyncGenerator<BatchEvent> {
      yield* makeEvents(5)
      throw new Error('the disk is gone')
    }
    const reported: number[] = []
    const onProgress = ({ settled }: BatchProgress): unknown => reported.push(settled)
    await expect(sluice.trackBatch(events(), { chunkSize: 2, onProgress })).rejects.toThrow('the disk is gone')
    expect([reported, stub.recorded.length]).toEqual([[2, 4], 4])
  })

  it.each([
    ['too many', { recorded: 3, deduped: 0, failures: [] }],
    ['too few', { recorded: 1, deduped: 0, failures: [] }],
    ['a failure of nobody', { recorded: 1, deduped: 0, failures: [{ index: 7, error: 'bad' }] }],
    ['no list', { recorded: 1, deduped: 0, failures: 1 }],
    ['nothing', {}],
  ])('an answer that counts %s does not come from the service', async (_what, data) => {
    stub.behave(() => answerWith(200, JSON_TYPE, JSON.stringify({ success: true, data })))
    const result = await sluice.trackBatch(makeEvents(2))
    expect(result).toMatchObject({ ok: false, settled: 0, error: { code: 'unexpected_answer', retryable: false } })
  })
})

it('keeps 10,000 failures, counts all and reports all', async () => {
  const events = makeEvents(10_200).map((event) => ({ ...event, value: UNLUCKY }))
  let reported = 0
  const result = await sluice.trackBatch(events, { onProgress: ({ failures }) => (reported += failures.length) })
  expect([result.failed, reported, result.failures.length]).toEqual([10_200, 10_200, 10_000])
})
