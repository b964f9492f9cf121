/** Messages to a webhook: signed according to Standard Webhooks, and with an outcome of the right kind. */
import { createHmac } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { OutgoingMessage } from '../../../src/messages/channels/provider.ts'
import { MAX_REASON } from '../../../src/messages/channels/words.ts'
import { CHANGE_OVER_MS, webhook } from '../../../src/messages/channels/webhook.ts'
import { guardOf } from '../../../src/outbound/target-guard.ts'
import type { Sql } from '../../../src/stores/postgres.ts'
import { LOOPBACK_GUARD } from '../../deliveries/delivery-lab.ts'
import { type Platform, type Reply, json, openPlatform } from '../../deliveries/platform.ts'
import { atLoad } from '../../support/at-load.ts'

const KEY = Buffer.from('0123456789abcdef0123456789abcdef')
const SECRET = `whsec_${KEY.toString('base64')}`
const NOW = Date.UTC(2026, 2, 1)

let platform: Platform
beforeEach(async () => {
  platform = await openPlatform(json(200, {}))
})
afterEach(() => platform.close())

const MESSAGE: OutgoingMessage = {
  messageId: '0198c5a0-a3f4-7d10-9e21-6c4b8f0a2d37',
  businessId: crypto.randomUUID(),
  channel: 'webhook',
  contactId: null,
  to: null,
  message: { language: 'en', body: '{ "city": "Zürich" }' },
}

function send(
  options: {
    url?: string
    secret?: Record<string, unknown>
    guard?: typeof LOOPBACK_GUARD
    now?: number
    ms?: number
  } = {},
) {
  const { url = `${platform.url}/in?a=1`, secret = { secret: SECRET }, guard = LOOPBACK_GUARD, now = NOW } = options
  const transport = webhook.open(
    { settings: { url }, secret },
    { sql: undefined as unknown as Sql, guard, now: () => now },
  )
  return transport.send(MESSAGE, AbortSignal.timeout(options.ms ?? atLoad(20_000)))
}

/** Signs like the libraries of Standard Webhooks. */
const sign = (body: string, key: Buffer) =>
  `v1,${createHmac('sha256', key)
    .update(`${MESSAGE.messageId}.${NOW / 1000}.${body}`)
    .digest('base64')}`

describe('a message', () => {
  it('is posted byte for byte, with its signature', async () => {
    expect(await send()).toEqual({ kind: 'accepted' })
    const [{ path, headers, body }] = platform.heard as [Platform['heard'][number]]
    expect([path, body]).toEqual(['/in?a=1', MESSAGE.message.body])
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': MESSAGE.messageId,
      'webhook-timestamp': String(NOW / 1000),
      'webhook-signature': sign(MESSAGE.message.body ?? '', KEY),
    })
  })

  it('is signed by the former secret too, for a day', async () => {
    const later = webhook.replaceSecrets({ secret: 'the former secret' }, { secret: SECRET }, NOW)
    expect(later).toEqual({ secret: SECRET, former: { secret: 'the former secret', until: NOW + CHANGE_OVER_MS } })
    expect(webhook.replaceSecrets(later, { secret: SECRET }, NOW + 5)).toEqual(later)
    expect(webhook.replaceSecrets(undefined, { secret: SECRET }, NOW)).toEqual({ secret: SECRET })
    const { body = '' } = MESSAGE.message
    await send({ secret: later })
    expect(platform.heard.at(-1)?.headers['webhook-signature']).toBe(
      `${sign(body, KEY)} ${sign(body, Buffer.from('the former secret'))}`,
    )
    await send({ secret: { secret: SECRET, former: { secret: 'the former secret', until: NOW } } })
    expect(platform.heard.at(-1)?.headers['webhook-signature']).toBe(sign(body, KEY))
  })
})

describe('the ending of a message', () => {
  it.each([
    [200, 'accepted'],
    [204, 'accepted'],
    [301, 'refused'],
    [400, 'refused'],
    [401, 'refused'],
    [404, 'refused'],
    [410, 'refused'],
    [429, 'temporary'],
    [500, 'unknown'],
    [503, 'unknown'],
  ] as const)('with HTTP %i is %s', async (status, kind) => {
    platform.reply = json(status, { error: 'the words of the receiver' }, { location: '/elsewhere' })
    const outcome = await send()
    expect(outcome.kind).toBe(kind)
    if (status === 204 || kind === 'accepted') return
    expect(outcome.reason).toContain(`HTTP ${status}`)
    expect(outcome.reason).toContain('the words of the receiver')
    expect(platform.heard).toHaveLength(1)
  })

  it('shows 300 characters of the words, on one line and without the secret', async () => {
    platform.reply = (response) => void response.writeHead(400).end(`\r\n"no \u007F${SECRET} ${'x'.repeat(1000)}"`)
    const { reason = '' } = await send()
    expect(reason).toMatch(/^HTTP 400: "no … x+…$/)
    expect(reason).toHaveLength(MAX_REASON)
  })

  it('shows no words that are not JSON, such as those of a page', async () => {
    for (const words of ['<h1>Internal page</h1>', 'metric_total 7', '{"cut', '']) {
      platform.reply = (response) => void response.writeHead(404).end(words)
      expect([words, await send()]).toEqual([words, { kind: 'refused', reason: 'HTTP 404' }])
    }
  })

  const silent: [string, Reply][] = [
    ['hangs up', (response) => void response.destroy()],
    ['never answers', () => undefined],
  ]
  it.each(silent)('with a receiver that %s is unknown', async (_, reply) => {
    platform.reply = reply
    expect(await send({ ms: 500 })).toMatchObject({ kind: 'unknown', reason: expect.stringMatching(/./) as string })
    expect(platform.heard).toHaveLength(1)
  })

  it('is by the status although the body never ends', async () => {
    platform.reply = (response) => void response.writeHead(400).write('"wrong field"')
    expect(await send({ ms: 500 })).toEqual({ kind: 'refused', reason: 'HTTP 400: "wrong field"' })
    platform.reply = (response) => void response.writeHead(200).write('x')
    expect(await send({ ms: 500 })).toEqual({ kind: 'accepted' })
  })

  it('is temporary where nobody listens, or where messages may not go', async () => {
    const { url } = platform
    await platform.close()
    expect(await send({ url })).toMatchObject({
      kind: 'temporary',
      reason: expect.stringMatching(/^not reached/) as string,
    })
    const guard = guardOf({ port: 0, workerMetricsPort: undefined, allowLoopbackTargets: false })
    for (const one of ['http://127.0.0.1:9', 'http://10.0.0.5/', 'http://169.254.169.254/latest', 'http://[::1]:9/'])
      expect(await send({ url: one, guard })).toMatchObject({
        kind: 'temporary',
        reason: expect.stringContaining('is not allowed as a target') as string,
      })
    platform = await openPlatform()
  })
})
