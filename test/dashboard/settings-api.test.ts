/** Keys, people, settings and the audit log over real HTTP, with mail over a real SMTP server. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Service, openService } from '../support/service.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { type SessionClient, addUser, openSession, signIn } from './session-client.ts'
import { PATIENCE_MS } from '../support/at-load.ts'

const PUBLIC_URL = 'https://sluice.example'

let mails: string[] = []
let isRefusing = false
const smtp = new SMTPServer({
  disabledCommands: ['AUTH', 'STARTTLS'],
  onRcptTo: (_, __, done) => done(isRefusing ? new Error('no such mailbox') : null),
  onData(stream, _, done) {
    let text = ''
    stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
    stream.on('end', () => {
      mails.push(text.replaceAll('=\r\n', '').replaceAll('=3D', '='))
      done()
    })
  },
})

let service: Service
let business: TestBusiness
let owner: SessionClient
let operator: SessionClient
let at: string
beforeAll(async () => {
  smtp.listen(0, '127.0.0.1')
  await once(smtp.server, 'listening')
  const { port } = smtp.server.address() as AddressInfo
  service = await openService({ PUBLIC_URL, SYSTEM_SMTP_URL: `smtp://127.0.0.1:${port}` })
  await addUser(service.sql, 'boss@x.io', { isOperator: true })
})
afterAll(async () => {
  await service.close()
  await new Promise<void>((resolve) => smtp.close(() => resolve()))
})
let count = 0
beforeEach(async () => {
  mails = []
  isRefusing = false
  count += 1
  business = await createBusiness(service.sql, { name: 'Shop\r\nBcc: all@x.io', rateLimit: 120 })
  const email = `owner${count}@x.io`
  await addUser(service.sql, email, { businessId: business.businessId, role: 'owner' })
  owner = await secureSession(email)
  operator = await secureSession('boss@x.io')
  at = `/b/${business.businessId}`
})

/** With PUBLIC_URL on https, the cookie has its name for https. */
async function secureSession(email: string): Promise<SessionClient> {
  const client = await signIn(service, email)
  return openSession(service.url, client.cookie().replace('sluice=', '__Host-sluice='))
}

const actionsOf = async (client: SessionClient) => {
  const { data } = await client.send('GET', `${at}/audit`)
  return (data['entries'] as { action: string }[]).map(({ action }) => action)
}

describe('keys', () => {
  it('are shown once, work at once, and are revoked within a second', async () => {
    const made = await owner.send('POST', `${at}/keys`, { kind: 'secret' })
    const { key, keyId } = made.data as { key: string; keyId: string }
    const call = () => fetch(`${service.url}/api/contacts`, { headers: { Authorization: `Bearer ${key}` } })
    expect((await call()).status).toBe(200)
    const listed = await owner.send('GET', `${at}/keys`)
    expect(JSON.stringify(listed.data)).toContain(keyId)
    expect(JSON.stringify(listed.data)).not.toContain(key)
    expect((await owner.send('DELETE', `${at}/keys/${keyId}`)).status).toBe(200)
    await expect.poll(async () => (await call()).status, { timeout: PATIENCE_MS }).toBe(401)
    expect(await actionsOf(owner)).toEqual(['key.revoke', 'key.create'])
  })

  it('that belong to another business are not revoked', async () => {
    const other = await createBusiness(service.sql)
    const [{ id }] = await service.sql<[{ id: string }]>`
      select id from api_keys where business_id = ${other.businessId} limit 1`
    expect((await owner.send('DELETE', `${at}/keys/${id}`)).code).toBe('not_found')
  })

  it('are at most 50', async () => {
    await service.sql`
      insert into api_keys (id, business_id, kind, key_hash, hint)
      select gen_random_uuid(), ${business.businessId}, 'secret', sha256(gen_random_uuid()::text::bytea), '1234'
      from generate_series(1, 47)`
    expect((await owner.send('POST', `${at}/keys`, { kind: 'secret' })).status).toBe(200)
    const past = await Promise.all([1, 2].map(() => owner.send('POST', `${at}/keys`, { kind: 'secret' })))
    expect(past.map(({ code }) => code)).toEqual(['limit_reached', 'limit_reached'])
  })

  it('need a recent proof of who asks', async () => {
    await service.sql`update sessions set confirmed_at = now() - interval '1 hour'`
    expect((await owner.send('POST', `${at}/keys`, { kind: 'secret' })).code).toBe('confirmation_required')
  })
})

describe('people', () => {
  it('are invited by mail, with a link to PUBLIC_URL whatever the Host header says', async () => {
    const headers = { 'Sec-Fetch-Site': 'same-origin', 'X-Forwarded-Host': 'evil.example' }
    const { data } = await owner.send('POST', `${at}/invitations`, { email: 'New@x.io', role: 'analyst' }, headers)
    expect(data).toMatchObject({ email: 'new@x.io', mail: 'sent', link: null })
    const [mail = ''] = mails
    expect(mail).toContain('To: new@x.io')
    expect(mail).not.toMatch(/^Bcc/m)
    const token = /https:\/\/sluice\.example\/dashboard\/link#([\w-]{43})/.exec(mail)?.[1] ?? ''
    const read = await openSession(service.url).send('POST', '/link/read', { token })
    expect(read.data).toMatchObject({ kind: 'invitation', role: 'analyst', needsPassword: true })
  })

  it('say so when the mail could not be sent, and may be sent again', async () => {
    isRefusing = true
    const first = await owner.send('POST', `${at}/invitations`, { email: 'away@x.io', role: 'marketer' })
    expect(first.data).toMatchObject({ mail: 'failed', link: null })
    isRefusing = false
    const id = String(first.data['invitationId'])
    expect((await owner.send('POST', `${at}/invitations/${id}/resend`, {})).data).toMatchObject({ mail: 'sent' })
    const { data } = await owner.send('GET', `${at}/people`)
    expect(data['invitations']).toMatchObject([{ email: 'away@x.io', role: 'marketer' }])
    const [{ id: current }] = data['invitations'] as [{ id: string }]
    expect((await owner.send('DELETE', `${at}/invitations/${current}`)).status).toBe(200)
    const { data: log } = await owner.send('GET', `${at}/audit`)
    expect((log['entries'] as object[])[0]).toMatchObject({
      action: 'invitation.revoke',
      details: { email: 'away@x.io' },
    })
  })

  it('change their role or leave, but never the last owner', async () => {
    const userId = await addUser(service.sql, `helper${count}@x.io`, {
      businessId: business.businessId,
      role: 'analyst',
    })
    expect((await owner.send('PUT', `${at}/people/${userId}`, { role: 'owner' })).status).toBe(200)
    const changed = async () => ((await owner.send('GET', `${at}/audit`)).data['entries'] as object[]).at(-1)
    const email = `helper${count}@x.io`
    expect(await changed()).toMatchObject({
      action: 'person.role',
      targetEmail: email,
      details: { email, role: 'owner' },
    })
    const { data } = await owner.send('GET', `${at}/people`)
    const [me] = (data['members'] as { userId: string }[]).filter((one) => one.userId !== userId)
    expect((await owner.send('DELETE', `${at}/people/${userId}`)).status).toBe(200)
    expect((await owner.send('DELETE', `${at}/people/${me?.userId}`)).code).toBe('last_owner')
    expect((await owner.send('PUT', `${at}/people/${me?.userId}`, { role: 'analyst' })).code).toBe('last_owner')
    expect(await actionsOf(owner)).toEqual(['person.remove', 'person.role'])
    // A person who has left may have a new address, which is not shown to this business. Entries keep the one of their time.
    await service.sql`update users set email = ${`later-${email}`} where id = ${userId}`
    const { data: log } = await owner.send('GET', `${at}/audit`)
    expect(log['entries']).toMatchObject([
      { action: 'person.remove', target: userId, targetEmail: null, details: { email } },
      { action: 'person.role', target: userId, targetEmail: null, details: { email, role: 'owner' } },
    ])
  })
})

it.each([
  ['another role', (userId: string) => owner.send('PUT', `${at}/people/${userId}`, { role: 'marketer' })],
  ['no role', (userId: string) => owner.send('DELETE', `${at}/people/${userId}`)],
])('a person with %s loses the invitations that they made, and the answer says so', async (_, change) => {
  const email = `leaves${count}@x.io`
  const userId = await addUser(service.sql, email, { businessId: business.businessId, role: 'owner' })
  const leaver = await secureSession(email)
  const invited = await leaver.send('POST', `${at}/invitations`, { email: 'second@x.io', role: 'owner' })
  expect(invited.status).toBe(200)
  const { status, data } = await change(userId)
  expect([status, data]).toEqual([200, { revokedInvitations: ['second@x.io'] }])
  expect((await owner.send('GET', `${at}/people`)).data['invitations']).toEqual([])
  const { data: log } = await owner.send('GET', `${at}/audit`)
  expect((log['entries'] as object[])[0]).toMatchObject({
    action: 'invitation.revoke',
    details: { email: 'second@x.io', invitedBy: email },
  })
})

describe('settings', () => {
  it('are changed, with what is wrong at its field, and are in the audit log', async () => {
    const wrong = await owner.send('PATCH', `${at}/business`, { timezone: 'Mars/Base', currency: '?' })
    expect(wrong.issues.map(({ path }) => path).toSorted()).toEqual(['currency', 'timezone'])
    const { data } = await owner.send('PATCH', `${at}/business`, { name: 'Shop', timezone: 'Europe/Berlin' })
    expect(data).toMatchObject({ name: 'Shop', timezone: 'Europe/Berlin', rateLimit: 120 })
    expect(await actionsOf(owner)).toEqual(['business.update'])
  })

  it('hold a rate limit that only an operator changes', async () => {
    const refused = await owner.send('PATCH', `${at}/business`, { rateLimit: 1000 })
    expect(refused.issues[0]?.path).toBe('rateLimit')
    expect((await operator.send('PATCH', `${at}/business`, { rateLimit: 1000 })).data).toMatchObject({
      rateLimit: 1000,
    })
    // An owner may send it as it is.
    expect((await owner.send('PATCH', `${at}/business`, { rateLimit: 1000, name: 'Shop' })).status).toBe(200)
  })

  it('that are sent as they are do not count as changed', async () => {
    const sent = { currency: 'USD', country: '', origins: [], bots: 'ignore', name: 'Shop' }
    await owner.send('PATCH', `${at}/business`, sent)
    await owner.send('PATCH', `${at}/business`, sent)
    const { data } = await owner.send('GET', `${at}/audit`)
    expect(data['entries']).toHaveLength(1)
    expect((data['entries'] as [{ details: object }])[0].details).toEqual({ name: 'Shop' })
  })

  it('that two people save at the same time are recorded once', async () => {
    const both = [owner, operator].map((client) => client.send('PATCH', `${at}/business`, { name: 'Both' }))
    expect((await Promise.all(both)).map(({ status }) => status)).toEqual([200, 200])
    expect(await actionsOf(owner)).toEqual(['business.update'])
  })

  it('say whether an origin is accepted, and why', async () => {
    const test = async (origin: string) => (await owner.send('POST', `${at}/origins/test`, { origin })).data
    expect(await test('https://shop.example')).toMatchObject({ isAccepted: true, reason: 'any_origin' })
    await owner.send('PATCH', `${at}/business`, { origins: ['https://shop.example'] })
    expect(await test('https://shop.example')).toMatchObject({ isAccepted: true, reason: 'listed' })
    expect(await test('http://www.shop.example')).toMatchObject({ isAccepted: false, similar: 'https://shop.example' })
    expect(await test('no origin')).toMatchObject({ isAccepted: false, reason: 'not_an_origin' })
  })
})

it('an operator creates a new business, and finds it among the businesses', async () => {
  const { status, data } = await operator.send('POST', '/operations/businesses', { name: 'Second' })
  expect([status, typeof data['businessId']]).toEqual([200, 'string'])
  const { data: me } = await operator.send('GET', '/me')
  expect(JSON.stringify(me['businesses'])).toContain('Second')
})

it('the audit log is read page by page', async () => {
  for (const name of ['A', 'B', 'C']) await owner.send('PATCH', `${at}/business`, { name })
  const first = await owner.send('GET', `${at}/audit?limit=2`)
  const next = await owner.send('GET', `${at}/audit?limit=2&cursor=${String(first.data['nextCursor'])}`)
  const names = [first, next].flatMap(({ data }) =>
    (data['entries'] as { details: { name: string } }[]).map(({ details }) => details.name),
  )
  expect(names).toEqual(['C', 'B', 'A'])
  expect((await owner.send('GET', `${at}/audit?cursor=x`)).code).toBe('invalid_request')
})
