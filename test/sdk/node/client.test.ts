/** The promises of the package about calls, awaited or not. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type EventInput, type Lost, Sluice, type SluiceOptions } from '../../../src/sdk/node/sluice.ts'
import { answerWith, hang, type HostileService, openHostileService, queued, refuse } from './hostile-service.ts'

const KEY = 'sk_live_test'
const ANN = { email: 'ann@x.io' }

let stub: HostileService
let lost: Lost[]
const opened: Sluice[] = []

beforeEach(async () => {
  stub = await openHostileService()
  lost = []
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await Promise.all(opened.splice(0).map((sluice) => sluice.close(0)))
  await stub.close()
})

/** Opens a client with short waits. It reports lost calls. */
function open(options: SluiceOptions = {}): Sluice {
  const onError = (one: Lost): unknown => lost.push(one)
  const sluice = new Sluice({ apiKey: KEY, baseUrl: stub.url, onError, minRetryMs: 1, maxRetryMs: 5, ...options })
  opened.push(sluice)
  return sluice
}

/** Returns a promise, and a function that resolves it. */
function latch(): { opened: Promise<void>; open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { opened: promise, open: resolve }
}

describe('the constructor', () => {
  it.each<[SluiceOptions, string]>([
    [{}, 'apiKey (or SLUICE_API_KEY)'],
    [{ apiKey: '' }, 'apiKey'],
    [{ apiKey: 'with a\nline' }, 'apiKey'],
    [{ apiKey: KEY, baseUrl: '' }, 'baseUrl (or SLUICE_BASE_URL)'],
    [{ apiKey: KEY, baseUrl: 'sluice.example.com' }, 'baseUrl'],
    [{ apiKey: KEY, maxQueue: 0 }, 'maxQueue must be a number from 1 up'],
    [{ apiKey: KEY, timeoutMs: NaN }, 'timeoutMs'],
  ])('throws for %o', (options, message) => {
    vi.stubEnv('SLUICE_API_KEY', undefined)
    expect(() => new Sluice({ baseUrl: stub.url, ...options })).toThrow(TypeError)
    expect(() => new Sluice({ baseUrl: stub.url, ...options })).toThrow(message)
  })

  it('takes key and address from the environment', async () => {
    vi.stubEnv('SLUICE_API_KEY', 'sk_live_environment')
    vi.stubEnv('SLUICE_BASE_URL', `${stub.url}/`)
    const result = await new Sluice().trackNow({ event: 'e', identity: ANN })
    expect(result.ok).toBe(true)
    expect(stub.heard[0]?.headers['authorization']).toBe('Bearer sk_live_environment')
    expect(stub.heard[0]?.path).toBe('/api/sdk/track')
  })

  it('keeps the path of an address', async () => {
    await open({ baseUrl: `${stub.url}/behind/a/proxy/` }).trackNow({ event: 'e', identity: ANN })
    expect(stub.heard[0]?.path).toBe('/behind/a/proxy/api/sdk/track')
  })
})

describe('track and identify', () => {
  it('return at once, and stamp the time and a key of the call', async () => {
    const sluice = open()
    const before = Date.now()
    expect(sluice.track({ event: 'e', identity: ANN })).toBeUndefined()
    const after = Date.now()
    expect(stub.heard).toEqual([])
    await sluice.flush()
    const [sent] = stub.recorded
    expect(sent?.occurredAt).toBeGreaterThanOrEqual(before)
    expect(sent?.occurredAt).toBeLessThanOrEqual(after)
    expect(sent?.idempotencyKey).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('stamp the time of an identify, which a second try does not change', async () => {
    stub.behave(({ number }) => (number === 1 ? refuse(503) : undefined))
    const sluice = open()
    const before = Date.now()
    sluice.identify({ identity: ANN, traits: { plan: 'free' } })
    const after = Date.now()
    await sluice.flush()
    const [first, second] = stub.heard.map(({ body }) => body as { occurredAt: number })
    expect(first).toEqual({ identity: ANN, traits: { plan: 'free' }, occurredAt: expect.any(Number) as number })
    expect(first?.occurredAt).toBeGreaterThanOrEqual(before)
    expect(first?.occurredAt).toBeLessThanOrEqual(after)
    expect(second).toEqual(first)
  })

  it('stamp later what was called later in one millisecond, at most 0.1 s ahead, and no identify without traits', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 1000 })
    const now = Date.now()
    const sluice = open()
    for (let call = 0; call < 150; call += 1)
      sluice.identify({ identity: ANN, profile: { city: 'Haifa' }, ...(call > 0 && { traits: { call } }) })
    vi.useRealTimers()
    await sluice.flush()
    const [first, ...stamped] = stub.heard.map(({ body }) => body as { occurredAt?: number })
    expect(first).not.toHaveProperty('occurredAt')
    expect(stamped.map(({ occurredAt = 0 }) => occurredAt - now)).toEqual(
      Array.from({ length: 149 }, (_, call) => Math.min(call, 100)),
    )
  })

  it("keep the caller's own time and key, and give a person no key", async () => {
    const sluice = open()
    const occurredAt = new Date('2020-01-02T03:04:05.678Z')
    sluice.track({ event: 'e', identity: ANN, occurredAt, idempotencyKey: 'mine' })
    sluice.identify({ identity: ANN, profile: { name: 'Ann Lee' }, method: 'signup', occurredAt })
    await sluice.flush()
    expect(stub.heard.map(({ path, body }) => [path, body])).toEqual([
      ['/api/sdk/track', { event: 'e', identity: ANN, occurredAt: occurredAt.toISOString(), idempotencyKey: 'mine' }],
      [
        '/api/sdk/identify',
        { identity: ANN, profile: { name: 'Ann Lee' }, method: 'signup', occurredAt: occurredAt.toISOString() },
      ],
    ])
  })

  it('send what the input was at the call, whatever becomes of it', async () => {
    const sluice = open()
    const input = { event: 'e', identity: { email: 'ann@x.io' }, properties: { items: ['a'] } }
    sluice.track(input)
    input.event = 'changed'
    input.identity.email = 'bob@x.io'
    input.properties.items.push('b')
    await sluice.flush()
    expect(stub.heard[0]?.body).toMatchObject({ event: 'e', identity: ANN, properties: { items: ['a'] } })
  })

  it('work when called without their object', async () => {
    const { track, identify, flush } = open()
    track({ event: 'e', identity: ANN })
    identify({ identity: ANN })
    await flush()
    expect(stub.heard.length).toBe(2)
  })

  const circle: Record<string, unknown> = {}
  circle['self'] = circle
  const event = { event: 'e', identity: ANN }
  it.each<[string, unknown, string]>([
    ['nothing', undefined, 'It must be an object'],
    ['text', 'e', 'It must be an object'],
    ['a circle', { ...event, properties: circle }, 'c'],
    ['a BigInt', { ...event, properties: { id: 1n } }, 'BigInt'],
    [
      'a getter that throws',
      {
        ...event,
        properties: {
          get a() {
            throw new Error('no a')
          },
        },
      },
      'no a',
    ],
    ['no amount', { ...event, value: NaN }, 'value must be a finite number'],
    ['an endless amount', { ...event, value: Infinity }, 'value must be a finite number'],
    ['no time', { ...event, occurredAt: new Date('never') }, 'occurredAt must be a finite number'],
    ['a trait that would be cleared', { ...event, traits: { seats: NaN } }, 'seats must be a finite number'],
    ['a trait that is named as a field', { ...event, traits: { value: NaN } }, 'value must be a finite number'],
  ])('never throw, and report %s', async (_what, input, message) => {
    const sluice = open()
    sluice.track(input as EventInput)
    sluice.identify(input as EventInput)
    await sluice.flush()
    expect(lost.map(({ operation, code, retryable }) => [operation, code, retryable])).toEqual([
      ['track', 'invalid_input', false],
      ['identify', 'invalid_input', false],
    ])
    expect(lost[0]?.message).toContain(message)
    expect(stub.heard).toEqual([])
  })

  it('report what the service refuses, once, with what was sent', async () => {
    stub.behave(() => refuse(400))
    const sluice = open()
    sluice.track({ event: 'e', identity: ANN })
    await sluice.flush()
    const input = { event: 'e', identity: ANN, ...pickStamps(stub.heard[0]?.body) }
    const reason = { code: 'code_400', message: 'refused 400', retryable: false, status: 400, attempts: 1 }
    expect(lost).toEqual([{ operation: 'track', ...reason, dropped: 0, input }])
    expect(stub.heard.length).toBe(1)
  })

  function pickStamps(body: { occurredAt?: unknown; idempotencyKey: unknown } | undefined): object {
    return { occurredAt: body?.occurredAt, idempotencyKey: body?.idempotencyKey }
  }

  it('survive an onError that throws, rejects, or calls them again', async () => {
    const sluice: Sluice = open({
      maxQueue: 1,
      onError: (one) => {
        lost.push(one)
        if (lost.length === 1) throw new Error('thrown')
        if (lost.length === 2) return Promise.reject(new Error('rejected'))
        return sluice.track(one.input as EventInput)
      },
    })
    const unlocked = latch()
    stub.behave(() => (socket, heard, record) => void unlocked.opened.then(() => refuse(200)(socket, heard, record)))
    for (let number = 0; number < 5; number++) sluice.track({ event: `e${number}`, identity: ANN })
    unlocked.open()
    expect(lost.map(({ code, dropped }) => [code, dropped])).toEqual([
      ['queue_full', 1],
      ['queue_full', 2],
      ['queue_full', 3],
      // The call that was made within the callback was dropped too, and is counted.
      ['queue_full', 5],
    ])
  })

  it('release an onError that calls them again later, without end', async () => {
    let calls = 0
    const sluice: Sluice = open({
      async onError({ input }) {
        calls++
        await Promise.resolve()
        sluice.track(input as EventInput)
      },
    })
    await sluice.close()
    sluice.track({ event: 'e', identity: ANN })
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(calls).toBe(1_000)
    sluice.track({ event: 'e', identity: ANN })
    expect(calls).toBe(1_001)
  })

  it('report 1,000 that are lost in one turn, and count all', async () => {
    const unlocked = latch()
    stub.behave(() => (socket, heard, record) => void unlocked.opened.then(() => refuse(400)(socket, heard, record)))
    const sluice = open({ maxQueue: 1 })
    for (let number = 0; number < 1_002; number++) sluice.track({ event: 'e', identity: ANN })
    expect([lost.length, lost.at(-1)?.dropped]).toEqual([1_000, 1_000])
    await new Promise((resolve) => setTimeout(resolve, 10))
    sluice.track({ event: 'e', identity: ANN })
    expect([lost.length, lost.at(-1)?.dropped]).toEqual([1_001, 1_002])
    unlocked.open()
  })

  it('say on the console what is lost when there is no onError, and not each time', async () => {
    const consoleError = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    stub.behave(() => refuse(401))
    const sluice = new Sluice({ apiKey: KEY, baseUrl: stub.url })
    for (let number = 0; number < 20; number++) sluice.track({ event: 'e', identity: ANN })
    await sluice.flush()
    expect(consoleError.mock.calls).toEqual([['sluice: track was lost, perhaps more: refused 401 (code_401)']])
    consoleError.mockRestore()
  })
})

describe('the queue', () => {
  /** Holds all answers until the returned function is called. */
  function holdAnswers(): () => void {
    const gate = latch()
    stub.behave(() => (socket, heard, record) => {
      void gate.opened.then(() => {
        stub.behave(() => undefined)
        const data = JSON.stringify({ data: record() })
        answerWith(200, { 'content-type': 'application/json' }, data)(socket, heard, record)
      })
    })
    return gate.open
  }

  it('holds as many calls as it may, and drops the next ones', async () => {
    const release = holdAnswers()
    const sluice = open({ maxQueue: 3 })
    for (const name of ['a', 'b', 'c', 'd', 'e']) sluice.track({ event: name, identity: ANN })
    const result = await sluice.trackNow({ event: 'f', identity: ANN })
    expect(result).toMatchObject({ ok: false, status: 0, attempts: 0, error: { code: 'queue_full', retryable: true } })
    release()
    await sluice.flush()
    expect(stub.recorded.map(({ event }) => event)).toEqual(['a', 'b', 'c'])
    expect(lost.map(({ code, dropped, input }) => [code, dropped, (input as EventInput).event])).toEqual([
      ['queue_full', 1, 'd'],
      ['queue_full', 2, 'e'],
    ])
    sluice.track({ event: 'g', identity: ANN })
    await sluice.flush()
    expect(stub.recorded.length).toBe(4)
  })

  it('holds as many bytes as it may, counted as UTF-8', async () => {
    const release = holdAnswers()
    const one = { event: '€', identity: ANN, occurredAt: 1, idempotencyKey: 'k' }
    const bytes = Buffer.byteLength(JSON.stringify(one))
    const sluice = open({ maxQueueBytes: 2 * bytes })
    sluice.track(one)
    sluice.track({ ...one, event: 'euro' })
    expect(lost.map(({ code }) => code)).toEqual(['queue_full'])
    sluice.track({ ...one, idempotencyKey: 'l' })
    expect(lost.length).toBe(1)
    release()
    await sluice.flush()
    for (const idempotencyKey of ['m', 'n']) sluice.track({ ...one, idempotencyKey })
    await sluice.flush()
    expect([stub.recorded.length, lost.length]).toEqual([4, 1])
  })

  it('takes a call of 256 KiB, and none larger', async () => {
    const sluice = open()
    const one = { event: 'e', identity: ANN, occurredAt: 1, idempotencyKey: 'k', properties: { a: '' } }
    const room = 256 * 1024 - JSON.stringify(one).length
    sluice.track({ ...one, properties: { a: 'x'.repeat(room) } })
    sluice.track({ ...one, properties: { a: 'x'.repeat(room + 1) } })
    await sluice.flush()
    expect(stub.recorded.length).toBe(1)
    expect(lost.map(({ code, retryable }) => [code, retryable])).toEqual([['payload_too_large', false]])
  })

  it('has as many requests under way as it may', async () => {
    const sluice = open({ concurrency: 3 })
    for (let number = 0; number < 30; number++) sluice.track({ event: 'e', identity: { platformCustomerId: number } })
    await sluice.flush()
    expect([stub.mostInFlight, stub.recorded.length]).toEqual([3, 30])
  })

  it('gives up after as many tries as it may, when the service was there', async () => {
    stub.behave(() => refuse(500))
    const sluice = open({ maxTries: 4 })
    sluice.track({ event: 'e', identity: ANN })
    await sluice.flush()
    expect(lost).toMatchObject([{ code: 'code_500', status: 500, attempts: 4, retryable: true }])
    expect(stub.heard.length).toBe(4)
  })

  it('does not count how often the service was away or busy', async () => {
    const answers = [429, 503, 502, 504, 429, 503].map((status) => refuse(status))
    stub.behave(({ number }) => answers[number - 1])
    const sluice = open({ maxTries: 1 })
    expect(await sluice.trackNow({ event: 'e', identity: ANN })).toMatchObject({ ok: true, attempts: 7 })
  })

  it('gives up when a call has become too old', async () => {
    stub.behave(() => refuse(503))
    const sluice = open({ maxAgeMs: 50 })
    sluice.track({ event: 'e', identity: ANN })
    await sluice.flush()
    // Either the last try was answered, or it ended first.
    expect(lost).toMatchObject([{ code: expect.stringMatching(/code_503|timed_out/) as string, retryable: true }])
  })

  it('gives up requests under way too at that age', async () => {
    stub.behave(() => hang)
    const sluice = open({ maxAgeMs: 50, timeoutMs: 3_600_000 })
    sluice.track({ event: 'e', identity: ANN })
    await sluice.flush()
    expect(lost).toMatchObject([{ code: 'timed_out', attempts: 1, retryable: true }])
  })

  it.each([408, 429, 500, 502, 503, 504, 599])('sends again after a %i', async (status) => {
    stub.behave(({ number }) => (number === 1 ? refuse(status) : undefined))
    expect(await open().trackNow({ event: 'e', identity: ANN })).toMatchObject({ ok: true, attempts: 2 })
  })

  it.each([301, 307, 400, 401, 403, 404, 405, 413, 415, 418])('sends nothing again after a %i', async (status) => {
    stub.behave(() => refuse(status, { location: `${stub.url}/elsewhere` }))
    const result = await open().trackNow({ event: 'e', identity: ANN })
    expect(result).toMatchObject({ ok: false, attempts: 1, error: { retryable: false } })
    expect(stub.heard.length).toBe(1)
  })

  it.each<[string, Record<string, string>]>([
    ['seconds', { 'retry-after': '1' }],
    ['a date', { 'retry-after': new Date(8000).toUTCString(), date: new Date(7000).toUTCString() }],
  ])('waits as long as Retry-After asks, in %s, with all its requests', async (_how, headers) => {
    stub.behave(({ number }) => (number === 1 ? refuse(429, headers) : undefined))
    const sluice = open({ concurrency: 1 })
    const startedAt = performance.now()
    sluice.track({ event: 'first', identity: ANN })
    sluice.track({ event: 'other', identity: { email: 'bob@x.io' } })
    await sluice.flush()
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(990)
    expect(stub.recorded.map(({ event }) => event).toSorted()).toEqual(['first', 'other'])
    expect(stub.heard.length).toBe(3)
  })

  it('sends again after a 429 that does not say when', async () => {
    stub.behave(({ number }) => (number < 4 ? refuse(429, { 'retry-after': 'soon' }) : undefined))
    expect(await open().trackNow({ event: 'e', identity: ANN })).toMatchObject({ ok: true, attempts: 4 })
  })

  it('does not wait for a Retry-After that is later than the call may be', async () => {
    stub.behave(() => refuse(429, { 'retry-after': '99999999' }))
    const sluice = open({ maxAgeMs: 20_000 })
    sluice.track({ event: 'first', identity: ANN })
    await sluice.flush()
    sluice.track({ event: 'second', identity: ANN })
    await sluice.flush()
    expect(lost.map(({ code, attempts }) => [code, attempts])).toEqual([
      ['code_429', 1],
      ['timed_out', 0],
    ])
  })
})

describe('trackNow', () => {
  it('returns what the service says', async () => {
    const data = {
      contactId: 'c',
      event: 'e',
      isNew: true,
      deduped: false,
      interpreted: { type: 'purchase', countedRevenue: 1 },
      warnings: ['w'],
    }
    stub.behave(() => answerWith(200, { 'content-type': 'application/json' }, JSON.stringify({ success: true, data })))
    const result = await open().trackNow({ event: 'e', identity: ANN })
    expect(result).toEqual({ ...data, ok: true, status: 200, attempts: 1 })
  })

  it('counts what is kept as done', async () => {
    stub.behave(() => queued)
    expect(await open().trackNow({ event: 'e', identity: ANN })).toMatchObject({ ok: true, status: 202, queued: true })
  })

  it('says why it is refused', async () => {
    stub.behave(() => refuse(403))
    expect(await open().trackNow({ event: 'e', identity: ANN })).toEqual({
      ok: false,
      status: 403,
      attempts: 1,
      error: { code: 'code_403', message: 'refused 403', retryable: false },
    })
  })

  it('has an answer in time, from a service that has none', async () => {
    stub.behave(() => hang)
    const result = await open().trackNow({ event: 'e', identity: ANN }, { deadlineMs: 100 })
    expect(result).toMatchObject({ ok: false, status: 0, attempts: 1, error: { code: 'timed_out', retryable: true } })
  })

  it.each([NaN, null, undefined, 'soon'])('a deadline of %s is the usual one', async (deadlineMs) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const sluice = open({ fetch: () => new Promise<Response>(() => undefined), timeoutMs: 3_600_000 })
    const ms = deadlineMs as number
    let ended = ''
    const sent = sluice.trackNow({ event: 'e', identity: ANN }, { deadlineMs: ms }).then(() => (ended += 'sent '))
    await vi.advanceTimersByTimeAsync(29_999)
    expect(ended).toBe('')
    await vi.advanceTimersByTimeAsync(1)
    expect(ended).toBe('sent ')
    sluice.track({ event: 'e', identity: ANN })
    const closed = sluice.close(ms).then(() => (ended += 'closed'))
    await vi.advanceTimersByTimeAsync(9_999)
    expect(ended).toBe('sent ')
    await vi.advanceTimersByTimeAsync(1)
    vi.useRealTimers()
    await Promise.all([sent, closed])
    expect(ended).toBe('sent closed')
  })

  it('has an answer in time also when others of the person are before it', async () => {
    stub.behave(() => hang)
    const sluice = open()
    sluice.track({ event: 'before', identity: ANN })
    const result = await sluice.trackNow({ event: 'e', identity: ANN }, { deadlineMs: 100 })
    expect(result).toMatchObject({ ok: false, attempts: 0, error: { code: 'timed_out', retryable: true } })
  })

  it('comes after what was tracked before', async () => {
    stub.behave(({ number }) => (number <= 2 ? refuse(500) : undefined))
    const sluice = open()
    for (const name of ['a', 'b']) sluice.track({ event: name, identity: ANN })
    await sluice.trackNow({ event: 'c', identity: ANN })
    expect(stub.recorded.map(({ event }) => event)).toEqual(['a', 'b', 'c'])
  })

  it.each<[string, Record<string, string>, string]>([
    ['HTML', { 'content-type': 'text/html' }, '<h1>Welcome</h1>'],
    ['JSON of another server', { 'content-type': 'application/json' }, '{"hello":"world"}'],
    ['empty text', { 'content-type': 'text/plain' }, ''],
  ])('distinguishes %s from an answer of the service', async (_what, headers, body) => {
    stub.behave(() => answerWith(200, headers, body))
    const result = await open().trackNow({ event: 'e', identity: ANN })
    expect(result).toMatchObject({ ok: false, status: 200, attempts: 1, error: { code: 'unexpected_answer' } })
  })

  it('names a refusal that does not name itself', async () => {
    stub.behave(() => answerWith(404, { 'content-type': 'text/html' }, '<h1>Not found</h1>'))
    const { error } = await open().trackNow({ event: 'e', identity: ANN })
    expect(error).toEqual({ code: 'http_404', message: 'The service answers 404', retryable: false })
  })

  it('says why there is no answer', async () => {
    const sluice = open({ baseUrl: 'http://127.0.0.1:1' })
    const { error } = await sluice.trackBatch([{ event: 'e', identity: ANN }], { patienceMs: 1 })
    expect(error).toMatchObject({ code: 'unreachable', retryable: true })
    expect(error?.message).toMatch(/^No answer: ./)
  })

  it('survives a fetch that does not keep to the Fetch standard', async () => {
    const broken = [
      () => {
        throw new Error('not even a promise')
      },
      () => Promise.reject(undefined),
      () => Promise.resolve(undefined as unknown as Response),
      () => new Promise<Response>(() => undefined),
    ]
    for (const fetch of broken) {
      const result = await open({ fetch, timeoutMs: 20 }).trackNow({ event: 'e', identity: ANN }, { deadlineMs: 60 })
      expect(result).toMatchObject({ ok: false, status: 0, error: { retryable: true } })
    }
  })
})

describe('flush and close', () => {
  it('flush has nothing to wait for in an empty queue', async () => {
    await open().flush()
  })

  it('close gives up what is left, reports it, and takes no more', async () => {
    stub.behave(() => hang)
    const sluice = open({ concurrency: 1 })
    for (const email of ['a@x.io', 'b@x.io', 'a@x.io']) sluice.track({ event: 'e', identity: { email } })
    await sluice.close(50)
    expect(lost.map(({ code, retryable, attempts }) => [code, retryable, attempts])).toEqual(
      expect.arrayContaining([
        ['closed', true, 1],
        ['closed', true, 0],
        ['closed', true, 0],
      ]) as unknown,
    )
    sluice.track({ event: 'late', identity: ANN })
    expect(lost.length).toBe(4)
    expect((await sluice.trackNow({ event: 'late', identity: ANN })).error?.code).toBe('closed')
    await sluice.close()
  })

  it('close delivers what it can', async () => {
    stub.behave(({ number }) => (number <= 3 ? refuse(503) : undefined))
    const sluice = open()
    for (let number = 0; number < 20; number++) sluice.track({ event: 'e', identity: { platformCustomerId: number } })
    await sluice.close(25_000)
    expect([stub.recorded.length, lost]).toEqual([20, []])
  })
})
