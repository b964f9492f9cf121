/** The domain of a sender is looked up on a DNS server. */
import { type Socket, createSocket } from 'node:dgram'
import { once } from 'node:events'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { checkSender } from '../../../src/messages/channels/check-sender.ts'
import { resolveTxt } from '../../../src/outbound/resolve-txt.ts'

/** Records by name. Null: the server fails. Undefined: it does not answer. */
let zone: Record<string, string[] | null | undefined>
let asked: string[]
let server: Socket
beforeAll(async () => {
  server = createSocket('udp4')
  server.on('message', (query, { port, address }) => {
    const answer = answerOf(query)
    if (answer !== null) server.send(answer, port, address)
  })
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(() => void server.close())
beforeEach(() => {
  zone = {}
  asked = []
})

/** Answers in the format of RFC 1035; null for no answer. */
function answerOf(query: Buffer): Buffer | null {
  const labels: string[] = []
  let at = 12
  while (query[at] !== 0) {
    const length = query[at] ?? 0
    labels.push(query.subarray(at + 1, at + 1 + length).toString())
    at += length + 1
  }
  const question = query.subarray(12, at + 5)
  const name = labels.join('.').toLowerCase()
  asked.push(name)
  if (name.startsWith('silent.')) return null
  const texts = Object.hasOwn(zone, name) ? zone[name] : []
  const header = Buffer.from(query.subarray(0, 12))
  // The name does not exist, the server fails, or a success.
  header.writeUInt16BE(texts === null ? 0x8182 : texts?.length === 0 ? 0x8183 : 0x8180, 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(texts?.length ?? 0, 6)
  header.writeUInt32BE(0, 8)
  return Buffer.concat([header, question, ...(texts ?? []).map(recordOf)])
}

/** In parts of 255 bytes. */
function recordOf(text: string): Buffer {
  const parts = text.match(/.{1,255}/gs) ?? []
  const data = Buffer.concat(parts.map((part) => Buffer.concat([Buffer.from([part.length]), Buffer.from(part)])))
  const head = Buffer.from([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 60, 0, 0])
  head.writeUInt16BE(data.length, 10)
  return Buffer.concat([head, data])
}

const resolve = (name: string) => resolveTxt(name, [`127.0.0.1:${server.address().port}`])
const check = async (settings: object, provider = 'smtp', selectors?: string[]) => {
  const found = await checkSender(resolve, { provider, settings: { ...settings } }, selectors)
  return found && { ...found, states: found.findings.map(({ state }) => state).join(' ') }
}
const SENDER = { sender: 'Shop <hello@Shop.Example>' }
const KEY = `v=DKIM1; p=${Buffer.alloc(300, 1).toString('base64')}`

describe('a sender', () => {
  it('is found in order', async () => {
    zone = {
      'shop.example': ['google-site-verification=x', 'v=spf1 include:_spf.mail.example -all'],
      's1._domainkey.shop.example': [KEY],
      '_dmarc.shop.example': ['v=DMARC1; p=reject'],
    }
    const found = await check(SENDER)
    expect(found).toMatchObject({ domain: 'shop.example', states: 'ok ok ok' })
    expect(found?.findings.map(({ name }) => name)).toEqual([
      'shop.example',
      's1._domainkey.shop.example',
      '_dmarc.shop.example',
    ])
    // The parts of a text are joined.
    expect(found?.findings[1]?.found).toEqual([KEY])
  })

  it('without any records gets those to publish', async () => {
    const found = await check(SENDER)
    expect(found?.states).toBe('missing unknown missing')
    expect(found?.findings.map(({ publish }) => publish)).toEqual([
      'v=spf1 include:THE-SERVERS-OF-YOUR-PROVIDER ~all',
      null,
      'v=DMARC1; p=none; rua=mailto:dmarc@shop.example',
    ])
    expect(found?.findings[1]?.message).toContain('selector1')
  })

  it('is looked up as its provider wants it, or by its own selectors', async () => {
    zone = { 'send.shop.example': ['v=spf1 include:amazonses.com ~all'], 'resend._domainkey.shop.example': [KEY] }
    expect((await check(SENDER, 'resend'))?.states).toBe('ok ok missing')
    expect((await check(SENDER, 'ses'))?.states).toBe('missing unknown missing')
    expect((await check(SENDER, 'postmark'))?.states).toBe('missing missing missing')
    zone['x9._domainkey.shop.example'] = [KEY]
    expect((await check(SENDER, 'postmark', ['nothing', 'x9']))?.findings[1]).toMatchObject({
      state: 'ok',
      name: 'x9._domainkey.shop.example',
    })
  })

  it('has the policy of the nearest parent', async () => {
    zone = { '_dmarc.shop.example': ['v=DMARC1; p=quarantine'] }
    const found = await check({ sender: 'a@news.mail.shop.example' })
    expect(found?.findings[2]).toMatchObject({ state: 'ok', name: '_dmarc.shop.example' })
    expect(asked).not.toContain('_dmarc.example')
  })

  it('is unknown while its servers fail', async () => {
    zone = { 'shop.example': null, '_dmarc.shop.example': null }
    expect((await check(SENDER, 'resend', ['s1']))?.states).toBe('missing missing unknown')
    expect((await check(SENDER))?.findings[0]?.state).toBe('unknown')
  })

  it('is not waited for without end', async () => {
    const startedAt = performance.now()
    await expect(resolve('silent.example')).rejects.toThrow(/./)
    expect(performance.now() - startedAt).toBeLessThan(30_000)
  })

  it('has a domain, also one in other letters', async () => {
    await check({ sender: 'a@bücher.example' }, 'resend', ['s1'])
    expect(asked).toContain('send.xn--bcher-kva.example')
    for (const settings of [{}, { sender: 5 }, { sender: 'nobody' }]) expect(await check(settings)).toBeNull()
  })
})
