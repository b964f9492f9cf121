/** Which answers are compressed, for which callers, and from which size on. */
import { gunzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { API_ROUTES, listRoutes } from '../../src/front-door/app.ts'
import { MIN_COMPRESSED_BYTES, compressText } from '../../src/front-door/http/compress-answer.ts'

async function send(text: string, accepted: string | null) {
  const headers: Record<string, string> = {}
  const request = new Request('http://x.io', { headers: accepted === null ? {} : { 'Accept-Encoding': accepted } })
  const body = await compressText(text, { request, headers })
  return { body, coding: headers['Content-Encoding'], vary: headers['Vary'] }
}

it('compresses what is longer than a packet, and nothing shorter', async () => {
  const atLimit = 'a'.repeat(MIN_COMPRESSED_BYTES)
  expect(await send(atLimit, 'gzip')).toEqual({
    body: Buffer.from(atLimit),
    coding: undefined,
    vary: 'Accept-Encoding',
  })
  const { body, coding, vary } = await send(`${atLimit}a`, 'gzip')
  expect([coding, vary, gunzipSync(body).toString()]).toEqual(['gzip', 'Accept-Encoding', `${atLimit}a`])
  expect(body.length).toBeLessThan(100)
})

it('counts bytes, not characters', async () => {
  const text = 'ä'.repeat(MIN_COMPRESSED_BYTES / 2)
  expect((await send(text, 'gzip')).coding).toBeUndefined()
  const { body, coding } = await send(`${text}.`, 'gzip')
  expect([coding, gunzipSync(body).toString()]).toEqual(['gzip', `${text}.`])
})

it.each([null, '', 'br', 'identity', 'gzip;q=0', 'br, gzip; q=0', 'x-gzip'])(
  'sends %j the text as it is',
  async (accepted) => {
    const text = 'a'.repeat(10_000)
    const { body, coding } = await send(text, accepted)
    expect([coding, body.toString()]).toEqual([undefined, text])
  },
)

it.each(['gzip', 'GZIP', 'br, gzip', 'gzip, deflate, br, zstd', 'gzip;q=0.5'])(
  'compresses for %j',
  async (accepted) => {
    expect((await send('a'.repeat(10_000), accepted)).coding).toBe('gzip')
  },
)

/**
 * Maintained by hand: read the answer of a route before you add it. The size of a compressed answer
 * shows an observer of the connection whether a text of theirs occurs in it twice. Therefore it must not contain a key,
 * token or link that opens something, and no page may request it repeatedly by itself.
 */
const COMPRESSED = [
  'GET /analytics/attribution',
  'GET /analytics/engagement',
  'GET /analytics/engagement/movers',
  'GET /analytics/funnel',
  'GET /analytics/funnel/contacts',
  'GET /analytics/lifecycle',
  'GET /analytics/retention',
  'GET /analytics/revenue',
  'GET /analytics/revenue/cohorts',
  'GET /analytics/series',
  'GET /analytics/stages',
  'GET /analytics/web',
  'GET /analytics/web/sources',
  'GET /campaigns',
  'GET /contacts',
  'GET /custom-fields',
  'GET /days',
  'GET /segments',
  'GET /segments/:segmentId/members',
]

it('the answers of these routes of a business, and of no other', () => {
  const compressed = listRoutes().filter(({ isCompressed }) => isCompressed)
  const prefix = '/dashboard/api/b/:businessId'
  const names = compressed.map(({ method, path }) => `${method} ${path.replace(prefix, '')}`)
  expect(names.toSorted()).toEqual(COMPRESSED)
  expect(compressed.filter(({ path }) => !path.startsWith(prefix))).toEqual([])
  expect(API_ROUTES.filter(({ isCompressed }) => isCompressed)).toEqual([])
})
