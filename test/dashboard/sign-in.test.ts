/** Signing in, links, sessions and the second factor, over real HTTP. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLink } from '../../src/accounts/links.ts'
import { hashToken } from '../../src/accounts/tokens.ts'
import { totpCode } from '../../src/accounts/totp.ts'
import { createUser, PLACEHOLDER_EMAIL } from '../../src/accounts/users.ts'
import { type Service, openService } from '../support/service.ts'
import { createBusiness } from '../support/stack.ts'
import { PASSWORD, addUser, inviteTo, openSession, signIn } from './session-client.ts'

let service: Service
let businessId: string
let ownerId: string
let secretKey: string
beforeAll(async () => {
  service = await openService(
    { SECRETS_KEY: randomBytes(32).toString('hex'), TRUST_PROXY: 'true' },
    { withoutWorkers: true },
  )
  ;({ businessId, secretKey } = await createBusiness(service.sql, { name: 'Shop' }))
  ownerId = await addUser(service.sql, 'owner@x.io', { businessId, role: 'owner' })
})
afterAll(() => service.close())

/** Each test has its own address, because the limits are by address. */
let addresses = 0
const fromElsewhere = () => {
  addresses += 1
  return { 'Sec-Fetch-Site': 'same-origin', 'X-Forwarded-For': `10.0.${addresses >> 8}.${addresses & 255}` }
}

describe('signing in', () => {
  it('shows the person, the businesses and the rights', async () => {
    const client = openSession(service.url)
    await client.send('POST', '/session', { email: ' Owner@X.io', password: PASSWORD }, fromElsewhere())
    const { data } = await client.send('GET', '/me')
    expect(data).toMatchObject({
      user: { email: 'owner@x.io', isOperator: false, hasTotp: false, hasPassword: true },
      businesses: [{ id: businessId, name: 'Shop', role: 'owner' }],
      installation: { isPlainHttp: true, canMail: false, isPublic: false },
    })
  })

  it('answers an unknown address like a wrong password', async () => {
    const answers = []
    for (const email of ['owner@x.io', 'nobody@x.io', 'no address']) {
      const { status, code } = await openSession(service.url).send(
        'POST',
        '/session',
        { email, password: 'wrong password' },
        fromElsewhere(),
      )
      answers.push([status, code])
    }
    expect(new Set(answers.map(String))).toEqual(new Set(['401,wrong_credentials']))
  })

  it('takes ten attempts a minute by address of mail, and thirty by network', async () => {
    await addUser(service.sql, 'guessed@x.io')
    const guess = (headers: Record<string, string>, email: string) =>
      openSession(service.url).send('POST', '/link/read', { token: email }, headers)
    const network = fromElsewhere()
    const codes = []
    for (let n = 0; n < 31; n += 1) codes.push((await guess(network, `u${n}`)).code)
    expect(codes.filter((code) => code === 'rate_limited')).toHaveLength(1)
    const byEmail = []
    for (let n = 0; n < 11; n += 1) {
      const { code } = await openSession(service.url).send(
        'POST',
        '/password-reset',
        { email: 'Guessed@x.io ' },
        fromElsewhere(),
      )
      byEmail.push(code)
    }
    expect(byEmail).toEqual([...Array<undefined>(10).fill(undefined), 'rate_limited'])
  })

  it('sets a cookie that scripts cannot read, and marks it secure behind HTTPS', async () => {
    const body = { email: 'owner@x.io', password: PASSWORD }
    const plain = await openSession(service.url).send('POST', '/session', body, fromElsewhere())
    expect(plain.headers.get('set-cookie')).toMatch(
      /^sluice=[\w-]{43}; Max-Age=1209600; Path=\/; HttpOnly; SameSite=Lax$/,
    )
    const headers = { ...fromElsewhere(), 'X-Forwarded-Proto': 'https' }
    const secure = await openSession(service.url).send('POST', '/session', body, headers)
    expect(secure.headers.get('set-cookie')).toMatch(
      /^__Host-sluice=[\w-]{43}; .*; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    )
  })

  it('gives a new token each time, and ends the one before: a session cannot be fixed from outside', async () => {
    const client = await signIn(service, 'owner@x.io')
    const before = client.cookie()
    await client.send('POST', '/session', { email: 'owner@x.io', password: PASSWORD }, fromElsewhere())
    expect(client.cookie()).not.toBe(before)
    const { code } = await openSession(service.url).send('GET', '/me', undefined, { Cookie: before })
    expect(code).toBe('not_signed_in')
    const invented = `sluice=${'A'.repeat(43)}`
    const body = { email: 'owner@x.io', password: PASSWORD }
    const fixed = await openSession(service.url).send('POST', '/session', body, {
      ...fromElsewhere(),
      Cookie: invented,
    })
    expect(fixed.headers.get('set-cookie')).not.toContain('AAAA')
  })

  it('ends with signing out', async () => {
    const client = await signIn(service, 'owner@x.io')
    const cookie = client.cookie()
    expect((await client.send('DELETE', '/session')).status).toBe(200)
    expect(client.cookie()).toBe('')
    const { code } = await openSession(service.url).send('GET', '/me', undefined, { Cookie: cookie })
    expect(code).toBe('not_signed_in')
  })
})

describe('requests of other sites', () => {
  it.each([
    ['a foreign page', { 'Sec-Fetch-Site': 'cross-site' }, 'cross_site_request'],
    ['a sibling of the same site', { 'Sec-Fetch-Site': 'same-site' }, 'cross_site_request'],
    ['a foreign origin', { Origin: 'https://evil.example' }, 'cross_site_request'],
    ['an opaque origin', { Origin: 'null' }, 'cross_site_request'],
    ['nothing that says where it is from', {}, 'cross_site_request'],
    ['an API key', { Authorization: 'Bearer sk_live_x', 'Sec-Fetch-Site': 'same-origin' }, 'key_not_accepted'],
  ])('a write with %s is refused', async (_, headers, expected) => {
    const client = await signIn(service, 'owner@x.io')
    const { code } = await client.send('PUT', '/me', { name: 'changed' }, headers)
    expect(code).toBe(expected)
  })

  it('its own origin is accepted where a browser sends no Sec-Fetch-Site', async () => {
    const client = await signIn(service, 'owner@x.io')
    const { status } = await client.send('PUT', '/me', { name: 'Olga' }, { Origin: service.url })
    expect(status).toBe(200)
  })

  it('a session opens nothing of the keyed API, and a cookie beside a key is ignored', async () => {
    const client = await signIn(service, 'owner@x.io')
    const headers = { Cookie: client.cookie(), 'Sec-Fetch-Site': 'same-origin' }
    const without = await fetch(`${service.url}/api/contacts`, { headers })
    expect(without.status).toBe(401)
    const withKey = await fetch(`${service.url}/api/contacts`, {
      headers: { ...headers, Authorization: `Bearer ${secretKey}` },
    })
    expect(withKey.status).toBe(200)
  })
})

describe('links', () => {
  it('sign in once, and the same link never again', async () => {
    await addUser(service.sql, 'linked@x.io')
    const token = await createLink(service.sql, 'sign-in', 'linked@x.io')
    const client = openSession(service.url)
    const read = await client.send('POST', '/link/read', { token }, fromElsewhere())
    expect(read.data).toMatchObject({ kind: 'sign-in', email: 'linked@x.io', needsPassword: false })
    const attempts = await Promise.all(
      Array.from({ length: 8 }, () => openSession(service.url).send('POST', '/link', { token }, fromElsewhere())),
    )
    expect(attempts.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, ...Array<number>(7).fill(410)])
  })

  it('that reset a password end every session and every other link', async () => {
    await addUser(service.sql, 'forgetful@x.io')
    const old = await signIn(service, 'forgetful@x.io')
    const [token, other] = [
      await createLink(service.sql, 'reset', 'forgetful@x.io'),
      await createLink(service.sql, 'sign-in', 'forgetful@x.io'),
    ]
    const client = openSession(service.url)
    const short = await client.send('POST', '/link', { token, password: 'short' }, fromElsewhere())
    expect([short.code, short.issues[0]?.path]).toEqual(['invalid_request', 'password'])
    const taken = await client.send('POST', '/link', { token, password: 'a new password' }, fromElsewhere())
    expect(taken.status).toBe(200)
    expect((await old.send('GET', '/me')).code).toBe('not_signed_in')
    expect((await client.send('POST', '/link', { token: other }, fromElsewhere())).code).toBe('link_expired')
  })

  it('older than their time are refused', async () => {
    await addUser(service.sql, 'late@x.io')
    const token = await createLink(service.sql, 'sign-in', 'late@x.io')
    await service.sql`update account_links set expires_at = now() where email = 'late@x.io'`
    expect((await openSession(service.url).send('POST', '/link', { token }, fromElsewhere())).code).toBe('link_expired')
  })

  it('invite a new person, who chooses a password', async () => {
    const token = await invite('new@x.io', 'marketer')
    const client = openSession(service.url)
    const read = await client.send('POST', '/link/read', { token }, fromElsewhere())
    expect(read.data).toMatchObject({ businessName: 'Shop', role: 'marketer', needsPassword: true, needsSignIn: false })
    const { data } = await client.send('POST', '/link', { token, password: PASSWORD, name: 'Nina' }, fromElsewhere())
    expect(data).toMatchObject({ user: { email: 'new@x.io', name: 'Nina' }, businesses: [{ role: 'marketer' }] })
  })

  it('invite a person with an account, who has to be signed in: the link does not open the account', async () => {
    await addUser(service.sql, 'known@x.io')
    const token = await invite('known@x.io', 'analyst')
    const inviter = await signIn(service, 'owner@x.io')
    expect((await inviter.send('POST', '/link/read', { token }, fromElsewhere())).data).toMatchObject({
      needsSignIn: true,
    })
    const stolen = await inviter.send(
      'POST',
      '/link',
      { token, password: 'of the thief' },
      {
        ...fromElsewhere(),
        Cookie: inviter.cookie(),
      },
    )
    expect(stolen.code).toBe('not_signed_in')
    const known = await signIn(service, 'known@x.io')
    const { data } = await known.send('POST', '/link', { token }, { ...fromElsewhere(), Cookie: known.cookie() })
    expect(data['businesses']).toMatchObject([{ role: 'analyst' }])
  })

  it('for the first operator take an address and a password', async () => {
    await createUser(service.sql, { email: PLACEHOLDER_EMAIL, isOperator: true })
    const token = await createLink(service.sql, 'sign-in', PLACEHOLDER_EMAIL)
    const client = openSession(service.url)
    const taken = { token, email: 'owner@x.io', password: PASSWORD }
    expect((await client.send('POST', '/link', taken, fromElsewhere())).issues[0]?.path).toBe('email')
    const { data } = await client.send('POST', '/link', { ...taken, email: 'Boss@x.io' }, fromElsewhere())
    expect(data).toMatchObject({ user: { email: 'boss@x.io', isOperator: true, hasPassword: true } })
  })

  async function invite(email: string, role: 'marketer' | 'analyst'): Promise<string> {
    return await inviteTo(businessId, { sql: service.sql, by: { id: ownerId, name: 'owner@x.io' } }, { email, role })
  }
})

it('a reset by mail still needs the second factor', async () => {
  await addUser(service.sql, 'both@x.io')
  const client = await signIn(service, 'both@x.io')
  const secret = String((await client.send('POST', '/me/totp', {})).data['secret'])
  const step = Math.floor(Date.now() / 30_000)
  expect((await client.send('PUT', '/me/totp', { code: totpCode(secret, step) })).status).toBe(200)
  const token = await createLink(service.sql, 'reset', 'both@x.io')
  const taker = openSession(service.url)
  expect((await taker.send('POST', '/link/read', { token }, fromElsewhere())).data).toMatchObject({ needsCode: true })
  const wanted = { token, password: 'a new password' }
  expect((await taker.send('POST', '/link', wanted, fromElsewhere())).code).toBe('second_factor_required')
  const wrong = await taker.send('POST', '/link', { ...wanted, code: '000000' }, fromElsewhere())
  expect(wrong.code).toBe('second_factor_required')
  const code = totpCode(secret, step + 1)
  expect((await taker.send('POST', '/link', { ...wanted, code }, fromElsewhere())).status).toBe(200)
})

describe('a password', () => {
  it('that changes ends the other sessions, and keeps this one with a new token', async () => {
    await addUser(service.sql, 'changes@x.io')
    const [here, there] = [await signIn(service, 'changes@x.io'), await signIn(service, 'changes@x.io')]
    const wrong = await here.send('PUT', '/me/password', { current: 'not it', password: 'another password' })
    expect(wrong.issues[0]?.path).toBe('current')
    const before = here.cookie()
    expect((await here.send('PUT', '/me/password', { current: PASSWORD, password: 'another password' })).status).toBe(
      200,
    )
    expect(here.cookie()).not.toBe(before)
    expect((await here.send('GET', '/me')).status).toBe(200)
    expect((await there.send('GET', '/me')).code).toBe('not_signed_in')
  })

  it.each([9, 10, 200, 201])('has 10 to 200 characters: tried with %i', async (length) => {
    const email = `length${length}@x.io`
    await addUser(service.sql, email)
    const client = await signIn(service, email)
    const { status } = await client.send('PUT', '/me/password', { current: PASSWORD, password: 'x'.repeat(length) })
    expect(status).toBe(length === 10 || length === 200 ? 200 : 400)
  })
})

describe('a second factor', () => {
  it('is asked for once it is confirmed; each code and each recovery code counts once', async () => {
    await addUser(service.sql, 'careful@x.io')
    const client = await signIn(service, 'careful@x.io')
    const { data } = await client.send('POST', '/me/totp', {})
    const secret = String(data['secret'])
    const step = Math.floor(Date.now() / 30_000)
    expect((await client.send('PUT', '/me/totp', { code: '000000' })).code).toBe('invalid_request')
    const on = await client.send('PUT', '/me/totp', { code: totpCode(secret, step) })
    const codes = on.data['recoveryCodes'] as string[]
    expect(codes).toHaveLength(10)
    expect((await client.send('PUT', '/me/totp', { code: totpCode(secret, step) })).code).toBe('not_found')

    const enter = async (code?: string) => {
      const sent = { email: 'careful@x.io', password: PASSWORD, ...(code !== undefined && { code }) }
      return (await openSession(service.url).send('POST', '/session', sent, fromElsewhere())).code
    }
    expect(await enter()).toBe('second_factor_required')
    const [first, next] = [totpCode(secret, step), totpCode(secret, step + 1)]
    expect(await enter(first)).toBe('second_factor_required')
    expect([await enter(next), await enter(next)]).toEqual([undefined, 'second_factor_required'])
    expect([await enter(codes[0]), await enter(codes[0])]).toEqual([undefined, 'second_factor_required'])
    const stored = await service.sql<
      { totp_secret: string }[]
    >`select totp_secret from users where email = 'careful@x.io'`
    expect(stored[0]?.totp_secret).not.toContain(secret)
  })

  it('is removed only shortly after the person proved who they are', async () => {
    await addUser(service.sql, 'stale@x.io')
    const client = await signIn(service, 'stale@x.io')
    await service.sql`update sessions set confirmed_at = now() - interval '11 minutes'`
    expect((await client.send('DELETE', '/me/totp')).code).toBe('confirmation_required')
    expect((await client.send('POST', '/session/confirm', { password: 'wrong' }, fromElsewhere())).code).toBe(
      'wrong_credentials',
    )
    expect((await client.send('POST', '/session/confirm', { password: PASSWORD }, fromElsewhere())).status).toBe(200)
    expect((await client.send('DELETE', '/me/totp')).status).toBe(200)
  })
})

it('stores hashes, and no token of a session or link', async () => {
  await addUser(service.sql, 'stored@x.io')
  const client = await signIn(service, 'stored@x.io')
  const link = await createLink(service.sql, 'reset', 'stored@x.io')
  const [{ stored }] = await service.sql<[{ stored: string }]>`
    select concat((select json_agg(s) from sessions s), (select json_agg(l) from account_links l),
      (select json_agg(u) from users u)) as stored`
  const session = client.cookie().replace('sluice=', '')
  const forms = [session, link].flatMap((token) => [token, Buffer.from(token).toString('hex')])
  expect(forms.filter((token) => stored.includes(token))).toEqual([])
  expect(stored).toContain(hashOf(client.cookie()).toString('hex'))
  expect([stored.includes('$argon2id$'), stored.includes(PASSWORD)]).toEqual([true, false])
})

it('a session ends after three days without use, and after fourteen days in any case', async () => {
  await addUser(service.sql, 'idle@x.io')
  const [idle, old] = [await signIn(service, 'idle@x.io'), await signIn(service, 'idle@x.io')]
  await service.sql`update sessions set seen_at = now() - interval '3 days' where token_hash = ${hashOf(idle.cookie())}`
  await service.sql`update sessions set expires_at = now() where token_hash = ${hashOf(old.cookie())}`
  expect([(await idle.send('GET', '/me')).code, (await old.send('GET', '/me')).code]).toEqual([
    'not_signed_in',
    'not_signed_in',
  ])
})

function hashOf(cookie: string): Buffer {
  return hashToken(cookie.slice(cookie.indexOf('=') + 1))
}
