/** Neither an answer nor its time shows a stranger whether an address has an account. */
import { randomBytes } from 'node:crypto'
import { verify } from '@node-rs/argon2'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { hashPassword } from '../../src/accounts/passwords.ts'
import { createUser } from '../../src/accounts/users.ts'
import { openMailServer, type MailServer } from '../messages/channels/mail-server.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { type Service, openService } from '../support/service.ts'
import { addUser } from './session-client.ts'

let mails: MailServer
let service: Service
beforeAll(async () => {
  mails = await openMailServer()
  service = await openService({
    SECRETS_KEY: randomBytes(32).toString('hex'),
    TRUST_PROXY: 'true',
    PUBLIC_URL: 'https://sluice.example',
    SYSTEM_SMTP_URL: `smtp://127.0.0.1:${mails.port}`,
  })
  for (const email of KNOWN) await addUser(service.sql, email)
  await service.sql`update users set totp_confirmed = true, totp_secret = 'sealed' where email = ${KNOWN[1] ?? ''}`
  await createUser(service.sql, { email: 'invited@x.io' })
})
afterAll(async () => {
  await service.close()
  await mails.close()
})

const KNOWN = ['ann@x.io', 'two-steps@x.io', ...Array.from({ length: 9 }, (_, index) => `known${index}@x.io`)]
const UNKNOWN = Array.from({ length: 9 }, (_, index) => `unknown${index}@x.io`)

let addresses = 0
/** Each call comes from another address, because the limits are by address. */
async function ask(path: string, json: object): Promise<{ said: unknown; ms: number }> {
  addresses += 1
  const began = performance.now()
  const response = await fetch(`${service.url}/dashboard/api${path}`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'Sec-Fetch-Site': 'same-origin',
      'X-Forwarded-For': `10.1.${addresses >> 8}.${addresses & 255}`,
    },
    body: JSON.stringify(json),
    signal: AbortSignal.timeout(PATIENCE_MS),
  })
  const { requestId: _, ...body } = (await response.json()) as Record<string, unknown>
  const ms = performance.now() - began
  const headers = [...response.headers].filter(([name]) => !/^(?:date|x-request-id|request-id)$/.test(name))
  return { said: { status: response.status, headers, body }, ms }
}

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

/** Takes turns, so that other work on the machine slows both equally. */
async function compare(path: string, bodyOf: (email: string) => object): Promise<{ known: number; unknown: number }> {
  const times = { known: [] as number[], unknown: [] as number[] }
  for (let n = 0; n < 9; n += 1) {
    times.known.push((await ask(path, bodyOf(`known${n}@x.io`))).ms)
    times.unknown.push((await ask(path, bodyOf(UNKNOWN[n] ?? ''))).ms)
  }
  return { known: median(times.known), unknown: median(times.unknown) }
}

it('signing in: a known address, one with a second factor, one without a password, an unknown one, and none', async () => {
  const answers = []
  for (const email of ['ann@x.io', 'two-steps@x.io', 'invited@x.io', 'nobody@x.io', 'no address']) {
    answers.push((await ask('/session', { email, password: 'wrong password' })).said)
  }
  expect(answers[0]).toMatchObject({ status: 401, body: { success: false, error: { code: 'wrong_credentials' } } })
  for (const answer of answers) expect(answer).toEqual(answers[0])
})

it('signing in takes the time of one hash, whether or not there is an account', async () => {
  const stored = await hashPassword('correct horse battery')
  const began = performance.now()
  await verify(stored, 'wrong password')
  const oneHash = performance.now() - began
  const { known, unknown } = await compare('/session', (email) => ({ email, password: 'wrong password' }))
  expect(unknown).toBeGreaterThan(oneHash / 4)
  // Without a hash it would take a tenth of the time; with two hashes, twice the time or more.
  expect(Math.max(known, unknown) / Math.min(known, unknown)).toBeLessThan(1.8)
})

it('asking for a new password: the same answer, before anything is looked up, and a mail to the known address alone', async () => {
  // Nothing that reads accounts gets further than this: the time of an answer cannot depend on what it would find.
  const holder = await service.sql.reserve()
  await holder`begin`
  await holder`lock table users in access exclusive mode`
  try {
    const answers = []
    for (const email of ['ann@x.io', 'two-steps@x.io', 'nobody@x.io', 'no address']) {
      answers.push((await ask('/password-reset', { email })).said)
    }
    expect(answers[0]).toMatchObject({ status: 202 })
    for (const answer of answers) expect(answer).toEqual(answers[0])
    expect(mails.heard).toEqual([])
  } finally {
    await holder`rollback`
    holder.release()
  }
  for (const email of [...UNKNOWN, ...KNOWN.slice(2)]) await ask('/password-reset', { email })
  await expect.poll(() => mails.heard.length, { timeout: PATIENCE_MS }).toBe(KNOWN.length)
  expect(mails.heard.flatMap(({ to }) => to).toSorted()).toEqual(KNOWN.toSorted())
})
