/** Changes that users make to their own accounts are in the audit log of the installation, without secrets. */
import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { createLink } from '../../src/accounts/links.ts'
import { matchTotp, totpCode } from '../../src/accounts/totp.ts'
import { PLACEHOLDER_EMAIL, createUser } from '../../src/accounts/users.ts'
import { PASSWORD, addUser, openSession, signIn } from '../dashboard/session-client.ts'
import { openService } from '../support/service.ts'
import { useOpened } from '../support/use-opened.ts'

const service = useOpened(() => openService({ SECRETS_KEY: randomBytes(32).toString('hex') }))

async function entriesOf(target: string): Promise<string[]> {
  const rows = await service.sql<{ entry: string }[]>`
    select actor_kind || ' ' || actor_name || ': ' || action || ' ' || details::text as entry from audit_log
    where business_id is null and target = ${target} and actor_id = ${target} order by id`
  return rows.map(({ entry }) => entry)
}
const take = (body: Record<string, unknown>) => openSession(service.url).send('POST', '/link', body)

it('name, password, second factor and ended sessions', async () => {
  const id = await addUser(service.sql, 'ann@x.io')
  const client = await signIn(service, 'ann@x.io')
  await signIn(service, 'ann@x.io')
  const { data } = await client.send('GET', '/me/sessions')
  const other = (data['sessions'] as { id: string; isCurrent: boolean }[]).find(({ isCurrent }) => !isCurrent)?.id
  expect((await client.send('PUT', '/me', { name: 'Ann' })).status).toBe(200)
  expect((await client.send('DELETE', `/me/sessions/${other}`)).status).toBe(200)
  expect((await client.send('DELETE', `/me/sessions/${other}`)).code).toBe('not_found')
  const secret = String((await client.send('POST', '/me/totp', {})).data['secret'])
  // One of these is none of the three codes that count now.
  const wrong = ['000000', '000001', '000002', '000003'].find(
    (digits) => matchTotp(secret, digits, Date.now()) === null,
  )
  expect(await client.send('PUT', '/me/totp', { code: wrong })).toMatchObject({ status: 400, code: 'invalid_request' })
  const code = totpCode(secret, Math.floor(Date.now() / 30_000))
  expect((await client.send('PUT', '/me/totp', { code })).status).toBe(200)
  expect((await client.send('DELETE', '/me/totp')).status).toBe(200)
  const wanted = 'another password'
  expect((await client.send('PUT', '/me/password', { current: 'wrong', password: wanted })).code).toBe(
    'invalid_request',
  )
  expect((await client.send('PUT', '/me/password', { current: PASSWORD, password: wanted })).status).toBe(200)
  const found = await entriesOf(id)
  // Rejected changes left no entry.
  expect(found).toEqual([
    'user ann@x.io: account.name {}',
    `user ann@x.io: account.end-session {"session": "${other}"}`,
    'user ann@x.io: account.second-factor-on {}',
    'user ann@x.io: account.second-factor-off {}',
    'user ann@x.io: account.password {}',
  ])
})

it('a password that was reset by a link, and links that sign in, each once', async () => {
  const id = await addUser(service.sql, 'bob@x.io')
  const reset = await createLink(service.sql, 'reset', 'bob@x.io')
  await take({ token: reset, password: 'a new password' })
  expect((await take({ token: reset, password: 'a newer password' })).code).toBe('link_expired')
  await take({ token: await createLink(service.sql, 'sign-in', 'bob@x.io') })
  await take({ token: await createLink(service.sql, 'sign-in', 'bob@x.io'), password: 'the newest password' })
  expect(await entriesOf(id)).toEqual([
    'user bob@x.io: account.password-reset {}',
    'user bob@x.io: account.sign-in-link {"setsPassword": false}',
    'user bob@x.io: account.sign-in-link {"setsPassword": true}',
  ])
})

it('the address that the first operator chooses', async () => {
  const id = await createUser(service.sql, { email: PLACEHOLDER_EMAIL, isOperator: true })
  const token = await createLink(service.sql, 'sign-in', PLACEHOLDER_EMAIL)
  const { status } = await take({ token, email: 'boss@x.io', password: PASSWORD })
  expect(status).toBe(200)
  expect(await entriesOf(id ?? '')).toEqual([
    'user boss@x.io: account.email {"email": "boss@x.io"}',
    'user boss@x.io: account.sign-in-link {"setsPassword": true}',
  ])
})
