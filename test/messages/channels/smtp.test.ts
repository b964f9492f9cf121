/** Mail is sent to real SMTP servers, good and bad ones. Every outcome has its kind. */
import * as fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import type { OutgoingMessage, SendOutcome, Transport } from '../../../src/messages/channels/provider.ts'
import { MAX_SESSIONS, MAX_USES } from '../../../src/messages/channels/smtp-pool.ts'
import { kindOf, mustEncrypt } from '../../../src/messages/channels/smtp-session.ts'
import { smtp } from '../../../src/messages/channels/smtp.ts'
import type { RenderedMessage } from '../../../src/messages/templates/template.ts'
import { guardOf } from '../../../src/outbound/target-guard.ts'
import type { Sql } from '../../../src/stores/postgres.ts'
import { LOOPBACK_GUARD } from '../../deliveries/delivery-lab.ts'
import { atLoad } from '../../support/at-load.ts'
import { type Script, openMailServer, openScriptedServer } from './mail-server.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})
const opened = async <Server extends { close(): Promise<void> }>(server: Promise<Server>): Promise<Server> => {
  const { close } = await server
  closing.push(close)
  return server
}

function open(
  port: number,
  settings: object = {},
  secret: Record<string, unknown> = {},
  guard = LOOPBACK_GUARD,
): Transport {
  const given = { host: '127.0.0.1', port, sender: 'Shop <hello@shop.example>', ...settings }
  // The transport does not use a database.
  const transport = smtp.open({ settings: given, secret }, { sql: undefined as unknown as Sql, guard, now: Date.now })
  closing.push(() => transport.close())
  return transport
}

const messageOf = (message: Partial<RenderedMessage> = {}, to = 'ada@example.com'): OutgoingMessage => ({
  messageId: crypto.randomUUID(),
  businessId: crypto.randomUUID(),
  channel: 'email',
  contactId: null,
  to,
  message: { language: 'en', subject: 'Hello', text: 'Hello Ada', ...message },
})
const send = (transport: Transport, message = messageOf(), ms = atLoad(20_000)): Promise<SendOutcome> =>
  transport.send(message, AbortSignal.timeout(ms))

/** Returns the headers, unfolded, by lower-case name. */
function headersOf(raw: string): Map<string, string> {
  const [head = ''] = raw.split('\r\n\r\n')
  const lines = head.replaceAll(/\r\n[ \t]+/g, ' ').split('\r\n')
  return new Map(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  )
}

describe('a mail', () => {
  it('arrives with its headers, as text and HTML', async () => {
    const server = await opened(openMailServer())
    const transport = open(server.port, { replyTo: 'help@shop.example' })
    const link = `<https://mail.example.com/u/${'x'.repeat(168)}>`
    const content = messageOf({ subject: 'Grüße, Ada', html: '<p>Hello</p>', text: 'Hello' })
    const message = { ...content, headers: { 'List-Unsubscribe': link } }
    expect(await send(transport, message)).toMatchObject({
      kind: 'accepted',
      reason: expect.stringMatching(/^250 /) as string,
    })
    const [mail] = server.heard
    expect(mail).toMatchObject({ from: 'hello@shop.example', to: ['ada@example.com'] })
    const headers = headersOf(mail!.raw)
    expect(Object.fromEntries(headers)).toMatchObject({
      from: 'Shop <hello@shop.example>',
      to: 'ada@example.com',
      'reply-to': 'help@shop.example',
      subject: '=?UTF-8?Q?Gr=C3=BC=C3=9Fe=2C_Ada?=',
      'message-id': `<${message.messageId}@shop.example>`,
      'list-unsubscribe': link,
    })
    expect(mail!.raw).toContain('<p>Hello</p>')
    // Some mail servers sign it as one line.
    expect(mail!.raw).toContain(`List-Unsubscribe: ${link}\r\n`)
  })

  it('goes with the password, and without one where none is set', async () => {
    const server = await opened(openMailServer())
    await send(open(server.port, { user: 'shop' }, { password: 'open sesame' }))
    await send(open(server.port))
    expect(server.heard.map(({ user }) => user)).toEqual(['shop', undefined])
  })

  it('goes over a connection that is there, five at most, each for 100 messages', async () => {
    const server = await opened(openMailServer())
    const transport = open(server.port)
    for (let n = 0; n < 3; n += 1) await send(transport)
    expect(server.connections()).toBe(1)
    await Promise.all(Array.from({ length: 40 }, () => send(transport)))
    expect(server.connections()).toBe(MAX_SESSIONS)
    const other = open(server.port)
    for (let n = 0; n < MAX_USES; n += 1) await send(other)
    expect(server.connections()).toBe(MAX_SESSIONS + 1)
    await send(other)
    expect(server.connections()).toBe(MAX_SESSIONS + 2)
    expect(server.heard).toHaveLength(43 + MAX_USES + 1)
  })

  it('waits for a free connection until its deadline, and takes the place of none that waits', async () => {
    const server = await opened(openScriptedServer({ message: 'say nothing' }))
    const transport = open(server.port)
    const busy = Array.from({ length: MAX_SESSIONS }, () => send(transport, messageOf(), atLoad(1500)))
    expect(await send(transport, messageOf(), 200)).toEqual({
      kind: 'temporary',
      reason: 'no connection became free in time',
      contact: 'untried',
    })
    expect((await Promise.all(busy)).map(({ kind }) => kind)).toEqual(
      Array.from({ length: MAX_SESSIONS }, () => 'unknown'),
    )
  })

  it('goes by a new connection when the server has closed the old one meanwhile', async () => {
    const server = await opened(openScriptedServer({ message: '250 OK\r\n421 too long idle' }))
    const transport = open(server.port)
    expect(await send(transport)).toMatchObject({ kind: 'accepted' })
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(await send(transport)).toMatchObject({ kind: 'accepted' })
  })
})

describe('the ending of a mail', () => {
  const endings: [string, Script, SendOutcome][] = [
    ['a full mailbox', { RCPT: '452 4.2.2 mailbox full' }, { kind: 'temporary', reason: '452 4.2.2 mailbox full' }],
    [
      'an unknown mailbox',
      { RCPT: '550 5.1.1 no such user' },
      { kind: 'refused', reason: '550 5.1.1 no such user', blame: 'hard_bounce' },
    ],
    [
      'a refused sender',
      { MAIL: '553 5.7.1 not you' },
      { kind: 'refused', reason: '553 5.7.1 not you', blame: 'sender' },
    ],
    ['a busy server', { MAIL: '421 4.3.2 later' }, { kind: 'temporary', reason: '421 4.3.2 later' }],
    ['no DATA now', { DATA: '451 4.3.0 later' }, { kind: 'temporary', reason: '451 4.3.0 later' }],
    ['no DATA ever', { DATA: '554 5.5.1 no' }, { kind: 'refused', reason: '554 5.5.1 no', blame: 'sender' }],
    [
      'a refused content',
      { message: '554 5.7.1 spam' },
      { kind: 'refused', reason: '554 5.7.1 spam', blame: 'sender' },
    ],
    ['a content for later', { message: '451 4.7.1 greylisted' }, { kind: 'temporary', reason: '451 4.7.1 greylisted' }],
    [
      'a 421 for an answer',
      { message: '421 4.3.2 shutting down' },
      { kind: 'temporary', reason: '421 4.3.2 shutting down' },
    ],
    [
      'a refused caller',
      { greeting: '554 5.7.1 blocked' },
      { kind: 'temporary', reason: expect.stringContaining('554 5.7.1 blocked') as string },
    ],
    [
      'several lines',
      { RCPT: '550-5.1.1 no\r\n550 5.1.1 such user' },
      { kind: 'refused', reason: '550-5.1.1 no 550 5.1.1 such user', blame: 'hard_bounce' },
    ],
  ]
  it.each(endings)('%s', async (_, script, outcome) => {
    const server = await opened(openScriptedServer(script))
    expect(await send(open(server.port))).toEqual(outcome)
  })

  const hangUps: [keyof Script, SendOutcome['kind']][] = [
    ['greeting', 'temporary'],
    ['EHLO', 'temporary'],
    ['MAIL', 'temporary'],
    ['RCPT', 'temporary'],
    ['DATA', 'temporary'],
    ['message', 'unknown'],
  ]
  it.each(hangUps)('a connection that is cut at %s: %s', async (step, kind) => {
    const server = await opened(openScriptedServer({ [step]: 'hang up' }))
    expect(await send(open(server.port))).toMatchObject({ kind, reason: expect.stringMatching(/./) as string })
    expect(server.messages()).toBe(kind === 'unknown' ? 1 : 0)
  })

  it.each(hangUps)('a server that never answers at %s: %s, at the deadline', async (step, kind) => {
    const server = await opened(openScriptedServer({ [step]: 'say nothing' }))
    const began = performance.now()
    expect(await send(open(server.port), messageOf(), 500)).toEqual({
      kind,
      reason: 'no answer in time',
      // A server that has not even said who it is was not reached.
      ...((step === 'greeting' || step === 'EHLO') && { contact: 'none' }),
    })
    expect(performance.now() - began).toBeLessThan(atLoad(3000))
  })

  it('a large mail that is cut in the middle: temporary', async () => {
    const server = await opened(openScriptedServer({}, { cutAfter: 100_000 }))
    const outcome = await send(open(server.port), messageOf({ text: 'x'.repeat(20_000_000) }))
    expect(outcome.kind).toBe('temporary')
    expect(server.messages()).toBe(0)
  })

  it('a wrong password: temporary, and its words show nothing of it', async () => {
    const server = await opened(
      openMailServer({
        onAuth: ({ password }, _, done) =>
          done(new Error(`${password} is wrong, ${Buffer.from(`\0shop\0${password}`).toString('base64')}`)),
      }),
    )
    const outcome = await send(open(server.port, { user: 'shop' }, { password: 'open says me' }))
    expect(outcome).toEqual({ kind: 'temporary', reason: '535 … is wrong, …' })
    expect(server.heard).toEqual([])
  })

  it('nobody listens: temporary', async () => {
    const server = await openScriptedServer({})
    await server.close()
    expect(await send(open(server.port))).toMatchObject({
      kind: 'temporary',
      reason: expect.stringMatching(/^not reached/) as string,
    })
  })

  it.each(['-ERR unknown command', 'HTTP/1.1 400 Bad Request'])(
    'a server that is none of SMTP is not quoted: %s',
    async (greeting) => {
      const server = await opened(openScriptedServer({ greeting }))
      const outcome = await send(open(server.port))
      expect(outcome).toEqual({ kind: 'temporary', reason: 'the server does not speak SMTP', contact: 'none' })
    },
  )

  it('a host that may not be reached: temporary, and nothing is connected to', async () => {
    const server = await opened(openMailServer())
    const guard = guardOf({ port: 0, workerMetricsPort: undefined, allowLoopbackTargets: false })
    const own = guardOf({ port: server.port, workerMetricsPort: undefined, allowLoopbackTargets: true })
    for (const [host, one] of [
      ['127.0.0.1', guard],
      ['localhost', guard],
      ['0x7f.1', guard],
      ['::1', guard],
      ['10.0.0.5', LOOPBACK_GUARD],
      ['169.254.169.254', LOOPBACK_GUARD],
      ['127.0.0.1', own],
    ] as const)
      expect(await send(open(server.port, { host }, {}, one))).toMatchObject({
        kind: 'temporary',
        reason: expect.stringContaining('is not allowed as a target') as string,
      })
    expect(server.connections()).toBe(0)
  })

  it('is by the reply when there is one, whatever came before', () => {
    const reply = fc.integer({ min: 400, max: 599 })
    fc.assert(
      fc.property(
        reply,
        fc.boolean(),
        fc.constantFrom('MAIL FROM', 'RCPT TO', 'DATA'),
        (responseCode, isHandedOver, command) => {
          const kind = kindOf({ name: '', message: '', responseCode, command }, isHandedOver)
          expect(kind).toBe(responseCode < 500 ? 'temporary' : 'refused')
        },
      ),
    )
    // After a broken connection, a message may be sent again only if it was certainly not handed over.
    fc.assert(
      fc.property(fc.option(reply, { nil: undefined }), fc.boolean(), (responseCode, isHandedOver) => {
        const broken = { name: '', message: '', command: 'CONN', ...(responseCode !== undefined && { responseCode }) }
        expect(kindOf(broken, isHandedOver)).toBe(isHandedOver ? 'unknown' : 'temporary')
      }),
    )
  })
})

it('a password needs encryption, but to this machine', () => {
  const login = { user: 'shop', pass: 'x' }
  expect([mustEncrypt(login, '203.0.113.7'), mustEncrypt(login, '2a00::1'), mustEncrypt(login, '')]).toEqual([
    true,
    true,
    true,
  ])
  expect([mustEncrypt(login, '127.0.0.1'), mustEncrypt(login, '::1'), mustEncrypt(undefined, '203.0.113.7')]).toEqual([
    false,
    false,
    false,
  ])
})

describe('hostile words', () => {
  const HOSTILE = [
    'a\r\nBcc: all@x.io',
    'a\nBcc: all@x.io',
    'a\rBcc: all@x.io',
    '\r\n\r\n<script>',
    'a\u2028Bcc: all@x.io',
    '=?utf-8?q?x?=',
    '\r\n.\r\nMAIL FROM:<x@x.io>',
  ]

  it.each(HOSTILE)('%j in a subject, a name and a text add no header and no recipient', async (words) => {
    const server = await opened(openMailServer())
    const transport = open(server.port)
    const message = messageOf({ subject: words, text: words, html: words })
    expect(await send(transport, message)).toMatchObject({ kind: 'accepted' })
    const [mail] = server.heard
    expect(server.heard).toHaveLength(1)
    expect(mail!.to).toEqual(['ada@example.com'])
    expect([...headersOf(mail!.raw).keys()].toSorted()).toEqual([
      'content-type',
      'date',
      'from',
      'message-id',
      'mime-version',
      'subject',
      'to',
    ])
  })

  it('in an address reach no other recipient', async () => {
    const server = await opened(openMailServer())
    const transport = open(server.port)
    const hostile = [
      'a@x.io, b@x.io',
      'a@x.io\r\nRCPT TO:<b@x.io>',
      'a@x.io> <b@x.io',
      '<a@x.io>\r\nBcc: b@x.io',
      'list:a@x.io,b@x.io;',
      '"a b"@x.io',
      'a@x.io (b@x.io)',
      '',
      '@',
      'a@',
    ]
    for (const to of hostile) {
      const outcome = await send(transport, messageOf({}, to))
      expect([to, outcome.kind]).toEqual([to, 'refused'])
    }
    expect(server.heard).toEqual([])
  })
})

it('a domain is sent in its ASCII form', async () => {
  const server = await opened(openScriptedServer({}))
  expect(await send(open(server.port), messageOf({}, 'ada@bücher.example'))).toMatchObject({ kind: 'accepted' })
  expect(server.commands).toContain('RCPT TO:<ada@xn--bcher-kva.example>')
})
