/** What DNS records say about a sender. */
import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { checkDkim, checkDmarc, checkSpf } from '../../../src/rules/messages/sender-records.ts'

describe('SPF', () => {
  const state = (records: string[] | null, include: string | null = null) =>
    checkSpf('shop.example', records, include).state
  it.each([
    [['v=spf1 include:_spf.mail.example -all'], 'ok'],
    [['other', 'v=spf1 a mx ~all'], 'ok'],
    [['v=spf1 redirect=_spf.mail.example'], 'ok'],
    [['V=SPF1 MX -ALL'], 'ok'],
    [['v=spf1'], 'weak'],
    [['v=spf1 mx'], 'weak'],
    [['v=spf1 mx ?all'], 'weak'],
    [['v=spf1 mx +all'], 'wrong'],
    [['v=spf1 all'], 'wrong'],
    [['v=spf1 -all', 'v=spf1 mx -all'], 'wrong'],
    [['v=spf10 -all'], 'missing'],
    [[], 'missing'],
    [null, 'unknown'],
  ])('%j is %s', (records, expected) => expect(state(records)).toBe(expected))

  it('may look up ten names, and no more', () => {
    const of = (many: number) =>
      `v=spf1 ${Array.from({ length: many }, (_, n) => `include:${n}.example`).join(' ')} -all`
    expect([state([of(10)]), state([of(11)])]).toEqual(['ok', 'wrong'])
    expect(
      state([
        'v=spf1 ip4:192.0.2.1 a a:x.io mx mx:x.io ptr exists:x.io a/24 include:a.io include:b.io include:c.io -all',
      ]),
    ).toBe('ok')
  })

  it('names the servers of the provider, and says how', () => {
    expect(state(['v=spf1 include:amazonses.com ~all'], 'amazonses.com')).toBe('ok')
    const other = checkSpf('shop.example', ['v=spf1 mx -all'], 'amazonses.com')
    expect(other).toMatchObject({ state: 'wrong', publish: 'v=spf1 mx include:amazonses.com -all' })
    expect(state(['v=spf1 -include:amazonses.com -all'], 'amazonses.com')).toBe('wrong')
    expect(checkSpf('x', [], 'amazonses.com').publish).toBe('v=spf1 include:amazonses.com ~all')
    expect(checkSpf('x', ['v=spf1 mx'], 'amazonses.com').publish).toBe('v=spf1 mx include:amazonses.com ~all')
  })
})

describe('DKIM', () => {
  const key = (bits: number) =>
    generateKeyPairSync('rsa', { modulusLength: bits })
      .publicKey.export({ type: 'spki', format: 'der' })
      .toString('base64')
  const state = (...records: string[]) => checkDkim('s1._domainkey.shop.example', records).state
  it('is a public key', () => {
    expect(state(`v=DKIM1; k=rsa; p=${key(2048)}`)).toBe('ok')
    expect(state(`p=${key(1024)}`)).toBe('ok')
    expect(state('v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=')).toBe('ok')
    expect(state(`p=${key(768)}`)).toBe('weak')
    expect(state('v=DKIM1; p=')).toBe('wrong')
    expect(state('v=DKIM2; p=AAAA')).toBe('wrong')
    expect(state('v=DKIM1; p=!!')).toBe('wrong')
    expect(state('p=AAAA', 'p=BBBB')).toBe('wrong')
    expect(state()).toBe('missing')
    expect(state('v=spf1 -all')).toBe('missing')
    expect(checkDkim('x', null).state).toBe('unknown')
    const [head, tail] = [`v=DKIM1; p=${key(2048).slice(0, 100)}`, key(2048).slice(100)]
    expect(checkDkim('x', [head, tail])).toMatchObject({ state: 'ok', found: [head + tail] })
    expect(state('v=DKIM1; k=rsa;', `p=${key(2048)}`)).toBe('ok')
  })
})

describe('DMARC', () => {
  it.each([
    [['v=DMARC1; p=reject'], 'ok', null],
    [['v=DMARC1;p=Quarantine; rua=mailto:a@x.io'], 'ok', null],
    [['v=DMARC1; p=none; rua=mailto:a@x.io'], 'weak', 'v=DMARC1; p=quarantine; rua=mailto:a@x.io'],
    [['v=DMARC1; sp=none'], 'wrong', 'v=DMARC1; p=none; rua=mailto:dmarc@shop.example'],
    [['v=DMARC1; p=all'], 'wrong', 'v=DMARC1; p=none; rua=mailto:dmarc@shop.example'],
    [['v=DMARC1; p=none', 'v=DMARC1; p=reject'], 'wrong', null],
    [['v=dmarc1; p=none', 'x'], 'missing', 'v=DMARC1; p=none; rua=mailto:dmarc@shop.example'],
    [null, 'unknown', null],
  ])('%j is %s', (records, state, publish) => {
    expect(checkDmarc('_dmarc.shop.example', records, 'shop.example')).toMatchObject({ state, publish })
  })
})
