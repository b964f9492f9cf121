/**
 * Generated calls from pages: they cause no internal error, every refusal is well-formed, and every store can keep what
 * was accepted.
 */
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { streamKey } from '../../src/stream/keys.ts'
import { type Service, openService } from '../support/service.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { anyText, anything, maybe, mostly, ofLength } from './make-bodies.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { runs } from '../support/runs.ts'

const RUNS = runs(300)

let service: Service
let business: TestBusiness
beforeAll(async () => {
  // Nearly every page has an address of its own.
  service = await openService({ TRUST_PROXY: 'true' })
  business = await createBusiness(service.sql, { rateLimit: 100_000_000 })
})
afterAll(() => service.close())

const hex = (length: number) => fc.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`))
const ms = mostly(fc.integer({ min: 0, max: 90 * 86_400_000 }), fc.constantFrom(-1, 0.5, 2 ** 53, 1e300, 8.64e15))
const url = mostly(
  fc.webUrl({ withQueryParameters: true, withFragments: true }),
  ofLength(2048).map((text) => `https://x.io/${text.slice(13)}`),
  fc.constantFrom('http://localhost/', 'https://[::1]:8080/a', 'https://a:b@x/?utm_source=\0', 'about:blank', '//x'),
  anyText,
)
const words = maybe(fc.dictionary(fc.constantFrom('source', 'medium', 'gclid', 'fbclid', 'x'), anyText, { maxKeys: 3 }))
const touch = maybe(fc.record({ ageMs: ms, url, referrer: maybe(url), utm: words, clickIds: words }))
const visit = { visitorId: mostly(hex(32), ofLength(32), anyText), first: touch, latest: touch }

const track = fc.record({
  ...visit,
  event: mostly(fc.constantFrom('demo', 'form_submitted', 'purchase'), ofLength(64), anyText),
  details: maybe(fc.dictionary(anyText, anything, { maxKeys: 4 })),
  messageId: maybe(hex(16), ofLength(64), anyText),
  ageMs: maybe(ms),
})
const hit = mostly(
  fc.record({
    id: mostly(hex(12), ofLength(64), anyText),
    kind: mostly(fc.constantFrom('page_view', 'scroll', 'time')),
    ageMs: ms,
    pageId: mostly(hex(12), ofLength(64), anyText),
    url,
    title: maybe(anyText, ofLength(256)),
    referrer: maybe(url),
    depth: maybe(fc.constantFrom(25, 50, 75, 100, 30)),
    activeMs: maybe(ms),
    idleMs: maybe(ms),
  }),
)
const capture = fc.record({ ...visit, hits: mostly(fc.array(hit, { minLength: 1, maxLength: 4 }), fc.constant([])) })

async function send(
  endpoint: 'track' | 'capture',
  said: object,
  address: string,
): Promise<[status: number, body: string]> {
  const response = await fetch(`${service.url}/api/sdk/browser/${endpoint}`, {
    method: 'POST',
    headers: { 'content-type': 'text/plain', 'x-forwarded-for': address },
    body: JSON.stringify({ businessId: business.businessId, ...said }),
  })
  return [response.status, await response.text()]
}

const ACCEPTED = { success: true, message: expect.any(String) as string, data: expect.any(Object) as object }
const REFUSED = {
  success: false,
  message: expect.any(String) as string,
  error: { code: expect.stringMatching(/^(invalid_request|properties_too_large)$/) as string },
}

it.each([
  ['track', track],
  ['capture', capture],
] as const)(
  'a call of browser/%s gets a well-formed refusal, or can be kept by every store',
  async (endpoint, calls) => {
    const seen = new Map<number, number>()
    const property = fc.asyncProperty(calls, fc.ipV4(), async (said, address) => {
      const [status, body] = await send(endpoint, said, address)
      seen.set(status, (seen.get(status) ?? 0) + 1)
      if (status === 400) expect(JSON.parse(body)).toMatchObject(REFUSED)
      else expect([status, JSON.parse(body)]).toEqual([200, ACCEPTED])
    })
    await fc.assert(property, { numRuns: RUNS })
    // Enough of each status to be meaningful.
    for (const status of [200, 400]) expect(seen.get(status)).toBeGreaterThan(RUNS / 10)
    await expect.poll(() => left(), { timeout: PATIENCE_MS }).toBe(0)
    expect(await service.sql`select reason, payload from dead_letters`).toEqual([])
  },
)

/** Counts the entries that no worker has applied yet. */
async function left(): Promise<number> {
  const names = await service.sql<{ partition: string }[]>`select partition from positions`
  const lengths = await Promise.all(names.map(({ partition }) => service.redis.xlen(streamKey(partition))))
  return lengths.reduce((sum, length) => sum + length, 0)
}
