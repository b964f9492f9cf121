/** Suppressed addresses over HTTP (campaigns, "Channels"). */
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  AddedData,
  LiftedData,
  LiftedManyData,
  SuppressionsData,
} from '../../src/front-door/routes/suppressions/schemas.ts'
import { loadMessageKey } from '../../src/messages/message-key.ts'
import { findSuppressed } from '../../src/messages/suppressions/find-suppressed.ts'
import { MAX_LIFTED } from '../../src/messages/suppressions/lift.ts'
import { MAX_SUPPRESSIONS } from '../../src/messages/suppressions/suppress.ts'
import type { AddressChannel, SuppressionReason } from '../../src/rules/messages/suppression.ts'
import { openService } from '../support/service.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { type Answer, type Speak, speakTo } from './http-client.ts'
import { dataOf } from './reply-shape.ts'
import { useOpened } from '../support/use-opened.ts'

const service = useOpened(openService)
let speak: Speak
let tenant: TestBusiness
beforeAll(async () => {
  speak = speakTo(service.url)
})
beforeEach(async () => {
  tenant = await createBusiness(service.sql, { country: 'IL' })
})

const ask = (method: string, path: string, json?: unknown) => speak(method, path, { key: tenant.secretKey, json })
const code = ({ status, body }: Answer) => [status, body.error?.code]
const pathsOf = ({ body }: Answer) => body.error?.issues?.map(({ path }) => path)
const PATH = '/api/suppressions'
const post = async (...suppressions: unknown[]) => dataOf(AddedData, await ask('POST', PATH, { suppressions }))
const email = (address: string, reason?: SuppressionReason) => ({
  channel: 'email',
  address,
  ...(reason && { reason }),
})
interface Shown {
  suppressionId: string
  channel: string
  reason: string
  at: string
}
const list = async (query = '') => {
  const data = dataOf(SuppressionsData, await ask('GET', `${PATH}${query}`))
  return { shown: data['suppressions'] as Shown[], nextCursor: data['nextCursor'] as string | null }
}
const kinds = async (query = '') => (await list(query)).shown.map(({ channel, reason }) => `${channel} ${reason}`)
const isSuppressed = async (channel: AddressChannel, address: string) => {
  const key = await loadMessageKey(service.sql)
  return (await findSuppressed(service.sql, key, [{ businessId: tenant.businessId, channel, address }]))[0]
}
const countOf = async () => {
  const [row] = await service.sql<{ many: number; rows: number }[]>`
    select many, (select count(*)::int from suppressions where business_id = c.business_id) as rows
    from suppression_counts c where business_id = ${tenant.businessId}`
  return row && [row.many, row.rows]
}

async function auditOf() {
  const rows = await service.sql<{ action: string; target: string | null; details: object; times: number }[]>`
    select action, target, details, times from audit_log
    where business_id = ${tenant.businessId} and action like 'suppression.%' order by id`
  return rows.map(({ action, target, details, times }) => [action, target, details, times])
}

describe('an address', () => {
  it('is suppressed, found in any spelling, shown without itself, and lifted', async () => {
    expect(await post(email(' Zoe@Example.com ', 'complaint'))).toEqual({
      received: 1,
      added: 1,
      known: 0,
      failed: 0,
      failures: [],
    })
    const { shown } = await list('?address=ZOE@example.com')
    expect(shown).toMatchObject([{ channel: 'email', reason: 'complaint' }])
    expect(Math.abs(Date.parse(shown[0]?.at ?? '') - Date.now())).toBeLessThan(600_000)
    expect(await isSuppressed('email', 'zoe@example.com')).toBe(true)
    expect(await kinds('?address=eve@example.com')).toEqual([])
    const [row] = await service.sql<{ all: string }[]>`select json_agg(s)::text as all from suppressions s`
    // No letters of a hash or an id spell this name.
    expect(row?.all).not.toMatch(/zoe|example/i)
    const suppressionId = shown[0]?.suppressionId ?? ''
    expect(dataOf(LiftedData, await ask('DELETE', `${PATH}/${suppressionId}`))).toEqual({ suppressionId })
    expect(code(await ask('DELETE', `${PATH}/${suppressionId}`))).toEqual([404, 'not_found'])
    expect(code(await ask('DELETE', `${PATH}/nothing`))).toEqual([404, 'not_found'])
    expect(await isSuppressed('email', 'zoe@example.com')).toBe(false)
    expect(await countOf()).toEqual([0, 0])
    expect(await auditOf()).toEqual([
      ['suppression.add', null, { added: 1 }, 1],
      ['suppression.lift', suppressionId, {}, 1],
    ])
  })

  it('with a phone number belongs to one channel; a national number is read by the country of the business', async () => {
    await post({ channel: 'sms', address: '054-123-4567' })
    expect(await isSuppressed('sms', '972541234567')).toBe(true)
    expect(await isSuppressed('whatsapp', '972541234567')).toBe(false)
    await post({ channel: 'whatsapp', address: '+972 54 123 4567', reason: 'stop' })
    expect(await kinds('?address=%2B972541234567')).toEqual(['whatsapp stop', 'sms manual'])
    expect(await kinds('?address=0541234567&channel=sms')).toEqual(['sms manual'])
  })

  it('has one suppression for each reason, and is free when the last one is lifted', async () => {
    expect(await post(email('a@x.io'), email('A@x.io'), email('a@x.io', 'stop'))).toMatchObject({ added: 2, known: 1 })
    expect(await post(email('a@x.io', 'manual'))).toMatchObject({ added: 0, known: 1 })
    await ask('DELETE', `${PATH}?reason=manual`)
    expect(await isSuppressed('email', 'a@x.io')).toBe(true)
    await ask('DELETE', `${PATH}?reason=stop`)
    expect(await isSuppressed('email', 'a@x.io')).toBe(false)
  })

  it('stays suppressed when its person is erased, and when the address comes back', async () => {
    const identify = () => ask('POST', '/api/sdk/identify', { identity: { email: 'gone@x.io' } })
    const { contactId } = (await identify()).body.data as { contactId: string }
    await post(email('gone@x.io', 'complaint'))
    expect((await ask('DELETE', `/api/contacts/${contactId}`)).status).toBe(200)
    expect(await kinds('?address=gone@x.io')).toEqual(['email complaint'])
    await identify()
    expect(await isSuppressed('email', 'gone@x.io')).toBe(true)
  })

  it('has another hash in another business', async () => {
    await post(email('a@x.io'))
    tenant = await createBusiness(service.sql)
    await post(email('a@x.io'))
    const rows = await service.sql`select distinct address_hash from suppressions s
      where exists (select from suppressions o where o.business_id <> s.business_id and o.address_hash = s.address_hash)`
    expect([...rows]).toEqual([])
  })
})

describe('a list', () => {
  it('has each page once, newest first, and filters', async () => {
    for (const reason of ['hard_bounce', 'complaint', 'stop', 'manual'] as const)
      await post(email(`${reason}@x.io`, reason))
    await post({ channel: 'sms', address: '+972541234567', reason: 'stop' })
    const all = (await list()).shown
    expect(all.map(({ reason }) => reason)).toEqual(['stop', 'manual', 'stop', 'complaint', 'hard_bounce'])
    const pages: Shown[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = await list(`?limit=2${cursor && `&cursor=${cursor}`}`)
      pages.push(...page.shown)
      cursor = page.nextCursor
    }
    expect(pages).toEqual(all)
    expect(await kinds('?reason=stop')).toEqual(['sms stop', 'email stop'])
    expect(await kinds('?reason=stop&channel=email')).toEqual(['email stop'])
    expect(await kinds('?channel=whatsapp')).toEqual([])
  })

  it('refuses what it cannot read', async () => {
    const refused = async (query: string) => pathsOf(await ask('GET', `${PATH}?${query}`))
    expect(await refused('limit=501')).toEqual(['limit'])
    expect(await refused('cursor=x')).toEqual(['cursor'])
    expect(await refused('channel=push')).toEqual(['channel'])
    expect(await refused('reason=STOP')).toEqual(['reason'])
    expect(await refused('address=nobody')).toEqual(['address'])
    expect(await refused('address=a@x.io&channel=sms')).toEqual(['address'])
    expect(await refused('address=')).toEqual(['address'])
  })
})

describe('items', () => {
  it('fail alone, and no answer repeats an address', async () => {
    const items = [email('one@x.io'), email('no address'), null, { channel: 'push', address: 'x' }, email('two@x.io')]
    const answer = await ask('POST', PATH, {
      suppressions: [
        ...items,
        { channel: 'sms', address: '12' },
        email('x@x.io', 'other' as 'stop'),
        email('undefined'),
      ],
    })
    expect(dataOf(AddedData, answer)).toMatchObject({ received: 8, added: 2, failed: 6 })
    expect(answer.body.message).toBe('The addresses are suppressed. Failures occurred: 6 of 8 items failed.')
    const { failures } = answer.body.data as { failures: { index: number; error: string }[] }
    expect(failures.map(({ index }) => index)).toEqual([1, 2, 3, 5, 6, 7])
    expect(failures.map(({ error }) => error)).toEqual([
      'address must be one email address, such as ada@example.com',
      'the item must be an object',
      expect.stringContaining('channel'),
      expect.stringContaining('phone number'),
      expect.stringContaining('reason'),
      'address must be one email address, such as ada@example.com',
    ])
    expect(Object.keys(failures[0] ?? {})).toEqual(['index', 'error'])
    expect(answer.text).not.toMatch(/no address"|x@x/)
    expect(await post(email('no'))).toMatchObject({ added: 0, failed: 1 })
    expect(await auditOf()).toEqual([['suppression.add', null, { added: 2 }, 1]])
  })

  it('are 1 to 500', async () => {
    const many = (length: number) => Array.from({ length }, (_, n) => email(`n${n}@x.io`))
    expect(await post(...many(500))).toMatchObject({ added: 500 })
    expect(pathsOf(await ask('POST', PATH, { suppressions: many(501) }))).toEqual(['suppressions'])
    expect(pathsOf(await ask('POST', PATH, { suppressions: [] }))).toEqual(['suppressions'])
    expect(pathsOf(await ask('POST', PATH, {}))).toEqual(['suppressions'])
    expect(await countOf()).toEqual([500, 500])
  })

  it('have texts of at most 320 characters', async () => {
    const long = (length: number) => email('a@x.io,'.padEnd(length, 'x'))
    expect(await post(long(320), long(321))).toMatchObject({ added: 1, failures: [{ index: 1 }] })
  })

  it('may be lines of an export, and what could never be mailed is refused', async () => {
    const lines = [
      'gone@shop.example,HardBounce,Recipient,2024-01-15T10:00:00Z',
      'gone@shop.example;hard',
      '<gone@shop.example>',
    ]
    expect(await post(...lines.map((line) => email(line, 'hard_bounce')))).toMatchObject({
      added: 1,
      known: 2,
      failed: 0,
    })
    expect(await kinds('?address=gone@shop.example')).toEqual(['email hard_bounce'])
    const never = ['gone@shop..example', `${'a'.repeat(65)}@shop.example`, 'a@shop.example,b@shop.example']
    expect(await post(...never.map((line) => email(line)))).toMatchObject({ added: 0, failed: 3 })
    expect(await post({ channel: 'sms', address: '"+972541234567",STOP,2024-01-15' })).toMatchObject({ added: 1 })
    expect(await kinds('?address=0541234567&channel=sms')).toEqual(['sms manual'])
  })

  it('that can mean two numbers count once', async () => {
    tenant = await createBusiness(service.sql, { country: 'DE' })
    const whatsapp = { channel: 'whatsapp', address: '43660123456' }
    expect(await post(whatsapp)).toMatchObject({ received: 1, added: 1, known: 0, failed: 0 })
    expect(await post(whatsapp)).toMatchObject({ received: 1, added: 0, known: 1, failed: 0 })
    for (const digits of ['43660123456', '4943660123456']) expect(await isSuppressed('whatsapp', digits)).toBe(true)
    expect(await countOf()).toEqual([2, 2])
  })

  it('are refused beyond the limit of a business, of two calls at once too', async () => {
    await post(email('first@x.io'))
    await service.sql`update suppression_counts set many = ${MAX_SUPPRESSIONS - 2} where business_id = ${tenant.businessId}`
    const answers = await Promise.all(
      [1, 2, 3].map((n) => post(email(`a${n}@x.io`), email('first@x.io'), email(`b${n}@x.io`))),
    )
    const sum = (name: string) => answers.reduce((total, answer) => total + Number(answer[name]), 0)
    expect([sum('added'), sum('known'), sum('failed')]).toEqual([2, 3, 4])
    const failures = answers.flatMap(({ failures: some }) => some as { error: string }[])
    expect(failures[0]?.error).toBe('A business has at most 1,000,000 suppressions.')
    await ask('DELETE', `${PATH}/${(await list()).shown[0]?.suppressionId}`)
    expect(await post(email('c@x.io'), email('d@x.io'))).toMatchObject({ added: 1, failed: 1 })
  })

  it('that are sent by many calls at once are suppressed once', async () => {
    const items = Array.from({ length: 40 }, (_, n) => email(`n${n}@x.io`))
    const answers = await Promise.all(
      [1, 2, 3, 4, 5].map((turn) => post(...(turn % 2 === 0 ? items : items.toReversed()))),
    )
    expect(answers.reduce((total, { added }) => total + Number(added), 0)).toBe(40)
    expect(await countOf()).toEqual([40, 40])
  })
})

describe('many', () => {
  const lift = async (query: string) => dataOf(LiftedManyData, await ask('DELETE', `${PATH}?${query}`))

  it('are lifted by reason, channel and time', async () => {
    await post(email('a@x.io', 'hard_bounce'), email('b@x.io', 'hard_bounce'), email('c@x.io', 'stop'))
    await post({ channel: 'sms', address: '+972541234567', reason: 'hard_bounce' })
    const at = (address: string, day: string) => service.sql`
      update suppressions set suppressed_at = ${Date.parse(day)}
      where id = (select id from suppressions where business_id = ${tenant.businessId} and reason = 'hard_bounce'
        and channel = 'email' order by id offset ${address === 'a' ? 0 : 1} limit 1)`
    await at('a', '2026-03-01')
    await at('b', '2026-03-02')
    expect(await lift('reason=hard_bounce&to=2026-02-28T23:59:59.999Z')).toEqual({ lifted: 0, hasMore: false })
    expect(await lift('reason=hard_bounce&from=2026-03-01&to=2026-03-01')).toEqual({ lifted: 1, hasMore: false })
    expect(await lift('reason=hard_bounce&channel=email&from=2026-03-02')).toEqual({ lifted: 1, hasMore: false })
    expect(await kinds()).toEqual(['sms hard_bounce', 'email stop'])
    expect(await lift('reason=hard_bounce')).toEqual({ lifted: 1, hasMore: false })
    expect(await countOf()).toEqual([1, 1])
    expect((await auditOf()).at(-1)).toEqual(['suppression.lift', null, { lifted: 1, reason: 'hard_bounce' }, 3])
  })

  it('are lifted a part at a time', async () => {
    await post(email('a@x.io'))
    await service.sql`
      insert into suppressions (business_id, id, channel, address_hash, reason, suppressed_at)
      select ${tenant.businessId}, gen_random_uuid(), 'email', decode(md5(n::text), 'hex'), 'manual', 0
      from generate_series(1, ${MAX_LIFTED}) n`
    await service.sql`update suppression_counts set many = many + ${MAX_LIFTED} where business_id = ${tenant.businessId}`
    expect(await lift('reason=manual')).toEqual({ lifted: MAX_LIFTED, hasMore: true })
    expect(await lift('reason=manual')).toEqual({ lifted: 1, hasMore: false })
    expect(await countOf()).toEqual([0, 0])
  })

  it('need a reason that there is, and times', async () => {
    const refused = async (query: string) => pathsOf(await ask('DELETE', `${PATH}?${query}`))
    expect(await refused('')).toEqual(['reason'])
    expect(await refused('from=2026-03-01')).toEqual(['reason'])
    expect(await refused('reason=all')).toEqual(['reason'])
    expect(await refused('reason=stop&from=soon')).toEqual(['from'])
    expect(await refused('reason=stop&to=2026-13-01')).toEqual(['to'])
    expect(await refused('reason=stop&channel=fax')).toEqual(['channel'])
  })
})
