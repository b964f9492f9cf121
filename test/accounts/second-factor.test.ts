/** Codes of the second factor: each once, and guesses get slower and slower. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  FREE_GUESSES,
  type Redeemed,
  confirmTotp,
  readTotpSecret,
  redeemSecondFactor,
  startTotp,
} from '../../src/accounts/second-factor.ts'
import { createTotpSecret, totpCode } from '../../src/accounts/totp.ts'
import { createUser } from '../../src/accounts/users.ts'
import { type MailServer, openMailServer } from '../messages/channels/mail-server.ts'
import { PASSWORD, addUser, openSession, signIn } from '../dashboard/session-client.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { type Service, openService } from '../support/service.ts'

let mails: MailServer
let service: Service
beforeAll(async () => {
  mails = await openMailServer()
  service = await openService(
    {
      SECRETS_KEY: randomBytes(32).toString('hex'),
      PUBLIC_URL: 'http://sluice.example:8080',
      SYSTEM_SMTP_URL: `smtp://shop:open%20sesame@127.0.0.1:${mails.port}`,
    },
    { withoutWorkers: true },
  )
})
afterAll(async () => {
  await service.close()
  await mails.close()
})

const NOW = Date.UTC(2026, 10, 29)
const STEP = NOW / 30_000
const WRONG = 'wrong!'

let count = 0
/** Returns how a person with a second factor redeems a code, and their recovery codes. */
async function withFactor() {
  count += 1
  const id = (await createUser(service.sql, { email: `f${count}@x.io` })) ?? ''
  const secret = createTotpSecret()
  await startTotp(service.sql, id, secret)
  const recovery = await confirmTotp(service.sql, { id, email: `f${count}@x.io` }, { sealed: secret, step: STEP })
  const redeem = (code: string, now = NOW) => redeemSecondFactor(service.sql, { id, secret, code, now })
  return { id, secret, recovery: recovery ?? [], redeem, codeAt: (step: number) => totpCode(secret, step) }
}

const pauseOf = async (id: string): Promise<number | null> => {
  const [{ seconds }] = await service.sql<[{ seconds: number | null }]>`
    select round(extract(epoch from codes_paused_until - now()) / 60)::int as seconds from users where id = ${id}`
  return seconds
}
const endPause = (id: string) =>
  service.sql`update users set codes_paused_until = now() - interval '1 second' where id = ${id}`
const outcomes = (redeemed: Redeemed[]) => redeemed.map(({ outcome }) => outcome)

it('the code that turns it on is not accepted again, the next one once', async () => {
  const { redeem, codeAt } = await withFactor()
  expect((await redeem(codeAt(STEP))).outcome).toBe('wrong')
  expect((await redeem(codeAt(STEP + 1))).outcome).toBe('accepted')
  expect(outcomes([await redeem(codeAt(STEP + 1)), await redeem(codeAt(STEP))])).toEqual(['wrong', 'wrong'])
})

it('many calls at the same time with one code: one is accepted', async () => {
  const { redeem, codeAt, recovery } = await withFactor()
  const twice = await Promise.all([1, 2, 3].map(() => redeem(codeAt(STEP + 1))))
  expect(outcomes(twice).filter((one) => one === 'accepted')).toHaveLength(1)
  const recovered = await Promise.all([1, 2, 3].map(() => redeem(recovery[0] ?? '')))
  expect(outcomes(recovered).filter((one) => one === 'accepted')).toHaveLength(1)
})

it('is turned on once, by the secret that was confirmed', async () => {
  const id = (await createUser(service.sql, { email: 'once@x.io' })) ?? ''
  const user = { id, email: 'once@x.io' }
  await startTotp(service.sql, id, 'first')
  await startTotp(service.sql, id, 'second')
  expect(await confirmTotp(service.sql, user, { sealed: 'first', step: STEP })).toBeNull()
  const both = await Promise.all([1, 2].map(() => confirmTotp(service.sql, user, { sealed: 'second', step: STEP })))
  expect(both.filter((codes) => codes !== null)).toHaveLength(1)
  expect(await readTotpSecret(service.sql, id)).toEqual({ secret: 'second', isConfirmed: true })
})

it('wrong codes are followed by a pause that grows to an hour, in which no code of the app counts', async () => {
  const { id, redeem, codeAt } = await withFactor()
  for (let guess = 1; guess < FREE_GUESSES; guess += 1) expect((await redeem(WRONG)).outcome).toBe('wrong')
  expect(await pauseOf(id)).toBeNull()
  for (const minutes of [1, 2, 4, 8, 16, 32, 60, 60]) {
    expect((await redeem(WRONG)).outcome).toBe('wrong')
    expect(await pauseOf(id)).toBe(minutes)
    expect(await redeem(codeAt(STEP + 1))).toMatchObject({ outcome: 'paused' })
    await endPause(id)
  }
  expect((await redeem(codeAt(STEP + 1))).outcome).toBe('accepted')
  // The next wrong code is the first one again.
  expect(await redeem(WRONG)).toEqual({ outcome: 'wrong', wrongCodes: 1, warns: false })
  expect(await pauseOf(id)).toBeNull()
})

it('guesses at the same time are counted one after another', async () => {
  const { redeem } = await withFactor()
  const guessed = await Promise.all(Array.from({ length: 20 }, () => redeem(WRONG)))
  expect(outcomes(guessed).filter((one) => one === 'wrong')).toHaveLength(FREE_GUESSES)
})

it('a recovery code ends the pause', async () => {
  const { redeem, codeAt, recovery } = await withFactor()
  for (let guess = 0; guess < FREE_GUESSES; guess += 1) await redeem(WRONG)
  expect((await redeem(codeAt(STEP + 1))).outcome).toBe('paused')
  expect((await redeem(recovery[3] ?? '')).outcome).toBe('accepted')
  expect((await redeem(codeAt(STEP + 1))).outcome).toBe('accepted')
})

it('the person is notified of the fifth wrong code, and of every 25th', async () => {
  const { id, redeem } = await withFactor()
  const notified: number[] = []
  for (let guess = 1; guess <= 50; guess += 1) {
    const redeemed = await redeem(WRONG)
    if (redeemed.outcome === 'wrong' && redeemed.warns) notified.push(redeemed.wrongCodes)
    await endPause(id)
  }
  expect(notified).toEqual([5, 25, 50])
})

it('at sign-in: the first code does not count again, a pause is said with its length, and a mail warns', async () => {
  await addUser(service.sql, 'ann@x.io')
  const client = await signIn(service, 'ann@x.io')
  const secret = String((await client.send('POST', '/me/totp', {})).data['secret'])
  const code = totpCode(secret, Math.floor(Date.now() / 30_000))
  expect((await client.send('PUT', '/me/totp', { code })).status).toBe(200)
  const enter = (sent: string) =>
    openSession(service.url).send('POST', '/session', { email: 'ann@x.io', password: PASSWORD, code: sent })
  expect((await enter(code)).code).toBe('second_factor_required')
  for (let guess = 2; guess <= FREE_GUESSES; guess += 1)
    expect((await enter(WRONG)).code).toBe('second_factor_required')
  const paused = await enter(WRONG)
  expect([paused.status, paused.code]).toEqual([429, 'rate_limited'])
  expect(Number(paused.headers.get('retry-after'))).toBeGreaterThan(30)
  await expect.poll(() => mails.heard.length, { timeout: PATIENCE_MS }).toBe(1)
  expect(mails.heard[0]).toMatchObject({ to: ['ann@x.io'] })
  expect(mails.heard[0]?.raw).toContain('Subject: Wrong codes for your account')
})
