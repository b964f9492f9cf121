/**
 * An account whose address no mail has proven may have been made by another person. An invitation that only the mailbox has
 * gives it to the person who has the mailbox.
 */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { listInvitations } from '../../src/accounts/invitations.ts'
import { createLink } from '../../src/accounts/links.ts'
import { listMembers } from '../../src/accounts/members.ts'
import { removeSecondFactor } from '../../src/accounts/second-factor.ts'
import { startAnew } from '../../src/accounts/start-anew.ts'
import { totpCode } from '../../src/accounts/totp.ts'
import { findCredentials } from '../../src/accounts/users.ts'
import { inTransaction } from '../../src/stores/transaction.ts'
import { type MailServer, openMailServer } from '../messages/channels/mail-server.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { type Service, openService } from '../support/service.ts'
import { createBusiness } from '../support/stack.ts'
import { PASSWORD, type SessionClient, addUser, inviteTo, openSession, signIn } from './session-client.ts'

const PUBLIC_URL = 'http://sluice.example:8080'

let mails: MailServer
let service: Service
beforeAll(async () => {
  mails = await openMailServer()
  service = await openService(
    {
      SECRETS_KEY: randomBytes(32).toString('hex'),
      TRUST_PROXY: 'true',
      PUBLIC_URL,
      SYSTEM_SMTP_URL: `smtp://shop:open%20sesame@127.0.0.1:${mails.port}`,
    },
    { withoutWorkers: true },
  )
})
afterAll(async () => {
  await service.close()
  await mails.close()
})
beforeEach(() => mails.heard.splice(0))

let count = 0
/** Each call has its own address, because the limits are by address. */
function fromElsewhere(): Record<string, string> {
  count += 1
  return { 'Sec-Fetch-Site': 'same-origin', 'X-Forwarded-For': `10.1.${count >> 8}.${count & 255}` }
}
const post = (client: SessionClient, path: string, body: object) =>
  client.send('POST', path, body, { ...fromElsewhere(), ...(client.cookie() && { Cookie: client.cookie() }) })

interface Shop {
  businessId: string
  owner: { id: string; name: string }
}

async function newShop(): Promise<Shop> {
  count += 1
  const { businessId } = await createBusiness(service.sql)
  const name = `owner${count}@x.io`
  return { businessId, owner: { id: await addUser(service.sql, name, { businessId, role: 'owner' }), name } }
}

/** As an owner does on an installation that cannot send mail: they have the link, and choose the password. */
async function takeByHand({ businessId, owner }: Shop, email: string, role: 'owner' | 'analyst' = 'analyst') {
  const token = await inviteTo(businessId, { sql: service.sql, by: owner }, { email, role })
  const client = openSession(service.url)
  expect((await post(client, '/link', { token, password: PASSWORD, name: 'Stranger' })).status).toBe(200)
  return client
}

async function inviteByMail({ businessId, owner }: Shop, email: string): Promise<string> {
  const client = await signIn(service, owner.name)
  const { data } = await client.send('POST', `/b/${businessId}/invitations`, { email, role: 'marketer' })
  expect(data).toMatchObject({ mail: 'sent', link: null })
  await expect.poll(() => mails.heard.length, { timeout: PATIENCE_MS }).toBe(1)
  const text = (mails.heard[0]?.raw ?? '').replaceAll(/=\r\n/g, '').replaceAll('=3D', '=')
  return new RegExp(`${PUBLIC_URL}/dashboard/link#([\\w-]{43})`).exec(text)?.[1] ?? ''
}

const rolesOf = async (email: string) =>
  service.sql<{ businessId: string; role: string }[]>`
    select business_id as "businessId", role from memberships m join users u on u.id = m.user_id
    where u.email = ${email} order by m.created_at`

/** Turns the second factor on. `isOn` false: leaves it unconfirmed. */
async function addFactor(client: SessionClient, { isOn = true } = {}): Promise<void> {
  const secret = String((await post(client, '/me/totp', {})).data['secret'])
  const code = totpCode(secret, Math.floor(Date.now() / 30_000))
  if (isOn) expect((await client.send('PUT', '/me/totp', { code })).status).toBe(200)
}

it('starts anew: password, sessions, links and other roles of before are gone', async () => {
  const [first, second] = [await newShop(), await newShop()]
  const email = 'ada@x.io'
  const stranger = await takeByHand(first, email, 'owner')
  await addFactor(stranger, { isOn: false })
  await stranger.send('POST', `/b/${first.businessId}/invitations`, { email: 'friend@x.io', role: 'owner' })
  const link = await createLink(service.sql, 'sign-in', email)
  mails.heard.splice(0)

  const token = await inviteByMail(second, email)
  const ada = openSession(service.url)
  const read = await post(ada, '/link/read', { token })
  expect(read.data).toMatchObject({ needsSignIn: true, mayStartAnew: true, needsPassword: false, needsCode: false })
  expect((await post(ada, '/link', { token })).code).toBe('not_signed_in')
  expect((await post(ada, '/link', { token, password: 'short' })).issues[0]?.path).toBe('password')
  const { data } = await post(ada, '/link', { token, password: 'the password of Ada', name: 'Ada' })
  expect(data).toMatchObject({
    user: { email, name: 'Ada', hasTotp: false },
    businesses: [{ id: second.businessId, role: 'marketer' }],
  })

  expect((await stranger.send('GET', '/me')).code).toBe('not_signed_in')
  const enter = async (password: string) =>
    (await post(openSession(service.url), '/session', { email, password })).status
  expect([await enter(PASSWORD), await enter('the password of Ada')]).toEqual([401, 200])
  expect((await post(openSession(service.url), '/link', { token: link })).code).toBe('link_expired')
  expect(await rolesOf(email)).toEqual([{ businessId: second.businessId, role: 'marketer' }])
  expect(await listInvitations(service.sql, first.businessId)).toEqual([])
  const logged = await service.sql<{ action: string }[]>`
    select action from audit_log where business_id = ${first.businessId} and actor_name = ${email} order by id`
  expect(logged.map(({ action }) => action)).toEqual([
    'person.join',
    'person.invite',
    'person.remove',
    'invitation.revoke',
  ])
})

it('only once: the address is proven now', async () => {
  const shops = [await newShop(), await newShop(), await newShop()] as const
  const email = 'bea@x.io'
  await takeByHand(shops[0], email)
  const bea = openSession(service.url)
  const wanted = { token: await inviteByMail(shops[1], email), password: 'the password of Bea' }
  expect((await post(bea, '/link', wanted)).status).toBe(200)
  mails.heard.splice(0)
  const token = await inviteByMail(shops[2], email)
  const other = openSession(service.url)
  expect((await post(other, '/link/read', { token })).data).toMatchObject({ needsSignIn: true, mayStartAnew: false })
  expect((await post(other, '/link', { token, password: 'another password' })).code).toBe('not_signed_in')
  expect((await post(bea, '/link', { token })).status).toBe(200)
  expect(await rolesOf(email)).toHaveLength(2)
})

it('a person who can sign in keeps everything, and the mail has proven the address', async () => {
  const [first, second] = [await newShop(), await newShop()]
  const email = 'cyd@x.io'
  const cyd = await takeByHand(first, email)
  expect((await findCredentials(service.sql, email))?.hasProvenEmail).toBe(false)
  expect((await post(cyd, '/link', { token: await inviteByMail(second, email) })).status).toBe(200)
  expect((await findCredentials(service.sql, email))?.hasProvenEmail).toBe(true)
  expect(await rolesOf(email)).toHaveLength(2)
})

it('a link that was passed on by hand opens no account, and no operator starts anew', async () => {
  const [first, second] = [await newShop(), await newShop()]
  await takeByHand(first, 'dan@x.io')
  const byHand = { email: 'dan@x.io', role: 'owner' } as const
  await addUser(service.sql, 'operator@x.io', { isOperator: true })
  const forOperator = { ...byHand, email: 'operator@x.io', isMailed: true }
  for (const invitation of [byHand, forOperator]) {
    const token = await inviteTo(second.businessId, { sql: service.sql, by: second.owner }, invitation)
    const owner = await signIn(service, second.owner.name)
    expect((await post(owner, '/link/read', { token })).data).toMatchObject({ mayStartAnew: false })
    expect((await post(owner, '/link', { token, password: 'of the owner' })).code).toBe('not_signed_in')
  }
})

it('a business that has no other owner keeps it', async () => {
  const [first, second] = [await newShop(), await newShop()]
  const email = 'eva@x.io'
  await takeByHand(first, email, 'owner')
  await service.sql`delete from users where id = ${first.owner.id}`
  const wanted = { token: await inviteByMail(second, email), password: 'the password of Eva' }
  expect((await post(openSession(service.url), '/link', wanted)).status).toBe(200)
  expect(await listMembers(service.sql, first.businessId)).toMatchObject([{ email, role: 'owner' }])
  expect(await rolesOf(email)).toHaveLength(2)
})

it('an account with a second factor does not start anew by its mailbox alone, until an operator removes it', async () => {
  const [first, second] = [await newShop(), await newShop()]
  const email = 'gil@x.io'
  const gil = await takeByHand(first, email, 'owner')
  await service.sql`delete from users where id = ${first.owner.id}`
  await addFactor(gil)
  const wanted = { token: await inviteByMail(second, email), password: 'anyone who reads the mails' }
  const other = openSession(service.url)
  expect((await post(other, '/link/read', { token: wanted.token })).data).toMatchObject({
    needsSignIn: true,
    needsCode: true,
    mayStartAnew: false,
  })
  expect(await post(other, '/link', wanted)).toMatchObject({ code: 'not_signed_in', reason: 'other_account_factor' })
  expect((await gil.send('GET', '/me')).data).toMatchObject({ user: { hasTotp: true } })
  expect(await rolesOf(email)).toEqual([{ businessId: first.businessId, role: 'owner' }])

  const { id } = (await findCredentials(service.sql, email)) ?? { id: '' }
  await removeSecondFactor(service.sql, { kind: 'command', id: 'test', name: 'test' }, { id, email })
  expect((await post(other, '/link', wanted)).data).toMatchObject({ user: { email, hasTotp: false } })
})

it('a second factor that is turned on in the meantime stops it, and nothing is lost', async () => {
  const shop = await newShop()
  const email = 'hal@x.io'
  const hal = await takeByHand(shop, email)
  await addFactor(hal)
  const { id } = (await findCredentials(service.sql, email)) ?? { id: '' }
  const outcome = await inTransaction(service.sql, (tx) => startAnew(tx, { id, email }, shop.businessId))
  expect(outcome).toBe(false)
  expect((await hal.send('GET', '/me')).status).toBe(200)
  expect(await rolesOf(email)).toHaveLength(1)
})

it('starts anew for one of two who use the link at the same time', async () => {
  const [first, second] = [await newShop(), await newShop()]
  const email = 'fay@x.io'
  await takeByHand(first, email)
  const token = await inviteByMail(second, email)
  const taken = await Promise.all(
    [1, 2, 3].map((n) => post(openSession(service.url), '/link', { token, password: `the password ${n}` })),
  )
  expect(taken.filter(({ status }) => status === 200)).toHaveLength(1)
  expect(taken.every(({ status }) => [200, 401, 410].includes(status))).toBe(true)
})

it('a link of the command line and a reset by mail prove the address, and a new password ends other sessions', async () => {
  for (const kind of ['sign-in', 'reset'] as const) {
    const email = `${kind}@x.io`
    await addUser(service.sql, email)
    const before = await signIn(service, email)
    const token = await createLink(service.sql, kind, email)
    expect((await post(openSession(service.url), '/link', { token, password: 'a new password' })).status).toBe(200)
    expect((await before.send('GET', '/me')).code).toBe('not_signed_in')
    expect((await findCredentials(service.sql, email))?.hasProvenEmail).toBe(true)
  }
})
