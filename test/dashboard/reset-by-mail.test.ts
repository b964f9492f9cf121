/** A forgotten password, from the request to the new one, through a real mail server. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type MailServer, openMailServer, openScriptedServer } from '../messages/channels/mail-server.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { type Service, openService } from '../support/service.ts'
import { PASSWORD, addUser, openSession, signIn } from './session-client.ts'

const PUBLIC_URL = 'http://sluice.example:8080'

let mails: MailServer
let service: Service
beforeAll(async () => {
  mails = await openMailServer()
  service = await openService({
    PUBLIC_URL,
    SYSTEM_SMTP_URL: `smtp://shop:open%20sesame@127.0.0.1:${mails.port}`,
    SYSTEM_MAIL_FROM: 'Sluice <sluice@sluice.example>',
  })
  await addUser(service.sql, 'ann@x.io')
})
afterAll(async () => {
  await service.close()
  await mails.close()
})
beforeEach(() => mails.heard.splice(0))

const ask = (email: string, url = service.url) => openSession(url).send('POST', '/password-reset', { email })
async function nextMail(): Promise<MailServer['heard'][number]> {
  await expect.poll(() => mails.heard.length, { timeout: PATIENCE_MS }).toBeGreaterThan(0)
  const [mail] = mails.heard
  if (mail === undefined) throw new Error('no mail')
  return mail
}
/** Returns the text without its quoted-printable encoding. */
const textOf = (raw: string): string => raw.replaceAll(/=\r\n/g, '').replaceAll('=3D', '=')
const tokenOf = (raw: string): string =>
  new RegExp(`^${PUBLIC_URL}/dashboard/link#([\\w-]{43})\\s*$`, 'm').exec(textOf(raw))?.[1] ?? ''

it('sends a link that begins with PUBLIC_URL, which sets a new password once', async () => {
  const before = await signIn(service, 'ann@x.io')
  expect((await ask(' Ann@x.io ')).status).toBe(202)
  const { from, to, user, raw } = await nextMail()
  expect([from, to, user]).toEqual(['sluice@sluice.example', ['ann@x.io'], 'shop'])
  expect(raw).toMatch(/^Subject: Choose a new password\r$/m)
  const token = tokenOf(raw)
  expect(token).not.toBe('')

  const client = openSession(service.url)
  expect((await client.send('POST', '/link/read', { token })).data).toMatchObject({
    kind: 'reset',
    needsPassword: true,
  })
  expect((await client.send('POST', '/link', { token, password: 'a new password' })).status).toBe(200)
  expect((await client.send('GET', '/me')).data).toMatchObject({ user: { email: 'ann@x.io' } })
  expect((await before.send('GET', '/me')).code).toBe('not_signed_in')
  const enter = async (password: string) =>
    (await openSession(service.url).send('POST', '/session', { email: 'ann@x.io', password })).status
  expect([await enter('a new password'), await enter(PASSWORD)]).toEqual([200, 401])
  expect((await client.send('POST', '/link', { token, password: 'a newer password' })).code).toBe('link_expired')
})

it('a link that is used makes the older ones invalid', async () => {
  await ask('ann@x.io')
  await nextMail()
  await ask('ann@x.io')
  await expect.poll(() => mails.heard.length, { timeout: PATIENCE_MS }).toBe(2)
  const [older = '', newer = ''] = mails.heard.map(({ raw }) => tokenOf(raw))
  const client = openSession(service.url)
  expect((await client.send('POST', '/link', { token: newer, password: 'the newest password' })).status).toBe(200)
  expect((await client.send('POST', '/link', { token: older, password: 'an old password' })).code).toBe('link_expired')
})

it('answers the same when the mail server refuses', async () => {
  const refusing = await openScriptedServer({ MAIL: '550 no' })
  const another = await openService({ PUBLIC_URL, SYSTEM_SMTP_URL: `smtp://127.0.0.1:${refusing.port}` })
  try {
    await addUser(another.sql, 'bob@x.io')
    expect((await ask('bob@x.io', another.url)).status).toBe(202)
    await expect.poll(() => refusing.commands.join(), { timeout: PATIENCE_MS }).toContain('MAIL FROM')
    // The service still answers.
    expect((await ask('bob@x.io', another.url)).status).toBe(202)
  } finally {
    await another.close()
    await refusing.close()
  }
})
