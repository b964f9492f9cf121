/** The exact payloads that platforms are sent, and how their answers are interpreted. */
import { createHash, createHmac } from 'node:crypto'
import { describe, expect, it, test } from 'vitest'
import { type Conversion, deduplicationId } from '../../src/deliveries/conversion.ts'
import { composeGoogleRequest, classifyGoogleResponse, findGoogleRefusal } from '../../src/deliveries/google.ts'
import { composeMetaRequest, classifyMetaResponse, findMetaRefusal } from '../../src/deliveries/meta.ts'
import { readRetryAfter } from '../../src/outbound/post.ts'
import {
  type GoogleSettings,
  type MetaSettings,
  type WebhookSecret,
  type WebhookSettings,
  checkSecret,
  checkSettings,
} from '../../src/deliveries/settings.ts'
import { composeWebhookRequest, classifyWebhookResponse } from '../../src/deliveries/webhook.ts'
import { keyBytes } from '../../src/outbound/standard-webhooks.ts'
import { SECRETS } from './delivery-lab.ts'

const NOW = Date.parse('2026-11-20T12:00:00.750Z')
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const EVENT_ID = '0199a0f4-0000-7000-8000-000000000001'
const CONVERSION: Conversion = {
  eventId: EVENT_ID,
  contactId: '0199a0f4-0000-7000-8000-000000000002',
  event: 'order paid',
  type: 'purchase',
  occurredAt: NOW,
  amount: 49.9,
  currency: 'EUR',
  idempotencyKey: 'order-1001',
  emails: ['john_smith@gmail.com', 'j.s@x.io'],
  phones: ['16505551212'],
  customerId: 'C-42',
  clicks: { fbclid: { id: 'IwAR2F4-dbP0', at: NOW - 5000 }, gclid: { id: 'Cj0KCQ', at: NOW - 9000 } },
}
const bodyOf = ({ body }: { body: string }) => JSON.parse(body) as unknown

describe('Meta', () => {
  const settings = checkSettings('meta', { pixelId: '77' }) as MetaSettings
  const compose = (conversion: Partial<Conversion> = {}, more: Partial<MetaSettings> = {}) =>
    composeMetaRequest({ ...CONVERSION, ...conversion }, { ...settings, ...more }, SECRETS.meta)

  it('is sent a purchase by its own rules', () => {
    const { url, headers } = compose()
    expect(url).toBe('https://graph.facebook.com/v26.0/77/events')
    expect(headers).toEqual({ 'content-type': 'application/json', authorization: 'Bearer EAAB-token' })
    expect(bodyOf(compose())).toEqual({
      data: [
        {
          event_name: 'Purchase',
          event_time: Math.floor(NOW / 1000),
          event_id: 'order-1001',
          action_source: 'system_generated',
          user_data: {
            // The two examples on Meta's page.
            em: ['62a14e44f765419d10fea99367361a727c12365e2520f32218d505ed9aa0f62f', sha256('j.s@x.io')],
            ph: ['e323ec626319ca94ee8bff2e4c87cf613be6ea19919ed1364124e16807ab3176'],
            external_id: [sha256('C-42')],
            fbc: `fb.1.${NOW - 5000}.IwAR2F4-dbP0`,
          },
          custom_data: { value: 49.9, currency: 'EUR' },
        },
      ],
    })
  })

  it('is sent a lead without a value under a test code, with nothing that is not known', () => {
    const lead = {
      type: 'lead',
      amount: null,
      currency: null,
      emails: [],
      phones: [],
      customerId: null,
      idempotencyKey: null,
    } as const
    expect(
      bodyOf(compose({ ...lead, emails: [], phones: [] }, { testEventCode: 'TEST1', actionSource: 'chat' })),
    ).toEqual({
      data: [
        {
          event_name: 'Lead',
          event_time: Math.floor(NOW / 1000),
          event_id: EVENT_ID,
          action_source: 'chat',
          user_data: { fbc: `fb.1.${NOW - 5000}.IwAR2F4-dbP0` },
        },
      ],
      test_event_code: 'TEST1',
    })
    expect(bodyOf(compose({ type: 'booking' }))).toMatchObject({ data: [{ event_name: 'Schedule' }] })
  })

  it('is not sent what it would refuse: a purchase without a value, what is older than seven days', () => {
    const refuse = (conversion: Partial<Conversion>) => findMetaRefusal({ ...CONVERSION, ...conversion }, NOW)
    expect(refuse({})).toBeUndefined()
    expect(refuse({ amount: 0 })).toBeUndefined()
    expect(refuse({ amount: null })).toMatch('without a value')
    expect(refuse({ amount: null, type: 'lead' })).toBeUndefined()
    expect(refuse({ occurredAt: NOW - 7 * 86_400_000 })).toBeUndefined()
    expect(refuse({ occurredAt: NOW - 7 * 86_400_000 - 1 })).toMatch('7 days')
    const unknown = { emails: [], phones: [], customerId: null, clicks: {} }
    expect(refuse(unknown)).toBe('Meta does not accept a conversion without a click or an identity from a server')
    expect(refuse({ ...unknown, customerId: 'C-42' })).toBeUndefined()
  })

  const fault = (code: number, more = {}) =>
    JSON.stringify({ error: { message: 'token EAAB-token of john@x.io', code, ...more } })
  test.each([
    [200, '{"events_received":1}', { kind: 'sent' }],
    [200, '{"events_received":0}', { kind: 'retry', reason: 'unreadable response' }],
    [200, '{"events_recei', { kind: 'retry', reason: 'unreadable response' }],
    [
      400,
      fault(100, { error_subcode: 2804019, fbtrace_id: 'Ab_1-x' }),
      { kind: 'dead', reason: "HTTP 400, Meta's code 100/2804019, trace Ab_1-x" },
    ],
    [400, fault(100, { fbtrace_id: 'john@x.io' }), { kind: 'dead', reason: "HTTP 400, Meta's code 100/0" }],
    [400, fault(100, { is_transient: true }), { kind: 'retry', reason: "HTTP 400, Meta's code 100/0" }],
    [400, fault(190), { kind: 'retry', reason: "HTTP 400, Meta's code 190/0" }],
    [500, fault(2), { kind: 'retry', reason: "HTTP 500, Meta's code 2/0" }],
    [
      400,
      fault(80_004),
      { kind: 'retry', reason: "HTTP 400, Meta's code 80004/0", afterMs: 60_000, holdsDestination: true },
    ],
    [502, '<html>', { kind: 'retry', reason: 'HTTP 502' }],
    [404, '', { kind: 'dead', reason: 'HTTP 404' }],
  ])('is answered as it deserves: %i %s', (status, text, result) => {
    expect(classifyMetaResponse({ status, text, retryAfterMs: null })).toEqual(result)
  })

  test.each([
    [429, fault(2), { holdsDestination: true }],
    [429, fault(100, { is_transient: true }), { holdsDestination: true }],
    [503, fault(2), {}],
    [400, fault(190), {}],
    [200, '{}', {}],
  ])('is left alone for as long as it asks: %i %s', (status, text, more) => {
    const result = { kind: 'retry', reason: expect.any(String) as string, afterMs: 3_600_000, ...more }
    expect(classifyMetaResponse({ status, text, retryAfterMs: 3_600_000 })).toEqual(result)
  })
})

describe('Google', () => {
  const settings = checkSettings('google', {
    customerId: '12',
    conversionActions: { purchase: '34' },
  }) as GoogleSettings
  const compose = (conversion: Partial<Conversion> = {}, more: Partial<GoogleSettings> = {}) =>
    composeGoogleRequest(
      { ...CONVERSION, ...conversion },
      { ...settings, ...more },
      { secret: SECRETS.google, accessToken: 'ya29', validateOnly: false },
    )
  const FIRST = { userIdentifierSource: 'FIRST_PARTY' }

  it('is sent a purchase by its own rules', () => {
    const { url, headers } = compose({}, { loginCustomerId: '99' })
    expect(url).toBe('https://googleads.googleapis.com/v26/customers/12:uploadClickConversions')
    expect(headers).toEqual({
      'content-type': 'application/json',
      authorization: 'Bearer ya29',
      'developer-token': 'dev',
      'login-customer-id': '99',
    })
    expect(compose().headers).not.toHaveProperty('login-customer-id')
    expect(bodyOf(compose({}, { consent: 'granted' }))).toEqual({
      conversions: [
        {
          conversionAction: 'customers/12/conversionActions/34',
          conversionDateTime: '2026-11-20 12:00:00+00:00',
          orderId: 'order-1001',
          conversionValue: 49.9,
          currencyCode: 'EUR',
          gclid: 'Cj0KCQ',
          userIdentifiers: [
            { ...FIRST, hashedEmail: sha256('john_smith@gmail.com') },
            { ...FIRST, hashedEmail: sha256('j.s@x.io') },
            { ...FIRST, hashedPhoneNumber: sha256('+16505551212') },
          ],
          consent: { adUserData: 'GRANTED', adPersonalization: 'GRANTED' },
        },
      ],
      partialFailure: true,
      validateOnly: false,
    })
  })

  it('is sent addresses of Gmail without their full stops, five identifiers at most, and nothing that is not known', () => {
    const emails = ['a.b.c@gmail.com', 'a.b@googlemail.com', 'a.b@x.com', 'd@x.com']
    const phones = ['1', '2', '3']
    const hashed = (key: string, text: string) => ({ ...FIRST, [key]: sha256(text) })
    expect(bodyOf(compose({ emails, phones, amount: null, currency: null, idempotencyKey: null }))).toMatchObject({
      conversions: [
        {
          orderId: EVENT_ID,
          userIdentifiers: [
            hashed('hashedEmail', 'abc@gmail.com'),
            hashed('hashedEmail', 'ab@googlemail.com'),
            hashed('hashedEmail', 'a.b@x.com'),
            hashed('hashedPhoneNumber', '+1'),
            hashed('hashedPhoneNumber', '+2'),
          ],
        },
      ],
    })
    const bare = compose({ emails: [], phones: [], amount: null, currency: null }).body
    for (const name of ['userIdentifiers', 'conversionValue', 'currencyCode', 'consent'])
      expect(bare).not.toContain(name)
  })

  it('is sent one click id, and the ids of iOS without identifiers', () => {
    const [gclid, gbraid, wbraid] = ['g', 'b', 'w'].map((id) => ({ id, at: 1 }))
    const sent = (clicks: Conversion['clicks']) =>
      (bodyOf(compose({ clicks })) as { conversions: [object] }).conversions[0]
    expect(sent({ gclid: gclid!, gbraid: gbraid!, wbraid: wbraid! })).toMatchObject({ gclid: 'g' })
    expect(sent({ gclid: gclid!, gbraid: gbraid!, wbraid: wbraid! })).not.toHaveProperty('gbraid')
    expect(sent({ gbraid: gbraid!, wbraid: wbraid! })).toMatchObject({ gbraid: 'b' })
    for (const name of ['gclid', 'wbraid', 'userIdentifiers'])
      expect(sent({ gbraid: gbraid!, wbraid: wbraid! })).not.toHaveProperty(name)
    expect(sent({ wbraid: wbraid! })).toMatchObject({ wbraid: 'w' })
  })

  it('is not sent what has no conversion action or no click any more', () => {
    expect(findGoogleRefusal(CONVERSION, settings)).toBeUndefined()
    expect(findGoogleRefusal({ ...CONVERSION, type: 'lead' }, settings)).toMatch('conversion action')
  })

  const errors = (...codes: string[]) => ({
    code: 3,
    message: 'john@x.io',
    details: [{ errors: codes.map((code) => ({ errorCode: { conversionUploadError: code }, message: 'john@x.io' })) }],
  })
  const partial = (...codes: string[]) => JSON.stringify({ partialFailureError: errors(...codes), results: [{}] })
  test.each([
    [200, '{"results":[{"gclid":"x"}]}', { kind: 'sent' }],
    [200, '{}', { kind: 'sent' }],
    [200, '{"results":[', { kind: 'retry', reason: 'unreadable response' }],
    [200, partial('CLICK_CONVERSION_ALREADY_EXISTS'), { kind: 'sent' }],
    [200, partial('EXPIRED_EVENT'), { kind: 'dead', reason: 'HTTP 200, EXPIRED_EVENT' }],
    [
      200,
      partial('DUPLICATE_ORDER_ID', 'EXPIRED_EVENT'),
      { kind: 'dead', reason: 'HTTP 200, DUPLICATE_ORDER_ID, EXPIRED_EVENT' },
    ],
    [200, partial('john@x.io'), { kind: 'dead', reason: 'HTTP 200' }],
    [200, partial('TOO_RECENT_EVENT'), { kind: 'retry', reason: 'HTTP 200, TOO_RECENT_EVENT', afterMs: 21_600_000 }],
    [
      429,
      JSON.stringify({ error: errors('RESOURCE_EXHAUSTED') }),
      { kind: 'retry', reason: 'HTTP 429, RESOURCE_EXHAUSTED', afterMs: 60_000, holdsDestination: true },
    ],
    [
      401,
      JSON.stringify({ error: errors('OAUTH_TOKEN_EXPIRED') }),
      { kind: 'retry', reason: 'HTTP 401, OAUTH_TOKEN_EXPIRED' },
    ],
    [
      400,
      JSON.stringify({ error: errors('INVALID_CUSTOMER_ID') }),
      { kind: 'dead', reason: 'HTTP 400, INVALID_CUSTOMER_ID' },
    ],
    [503, 'later', { kind: 'retry', reason: 'HTTP 503' }],
  ])('is answered as it deserves: %i %s', (status, text, result) => {
    expect(classifyGoogleResponse({ status, text, retryAfterMs: null })).toEqual(result)
  })

  test.each([
    [429, JSON.stringify({ error: errors('RESOURCE_TEMPORARILY_EXHAUSTED') }), 3_600_000, { holdsDestination: true }],
    [429, JSON.stringify({ error: errors('TRANSIENT_ERROR') }), 3_600_000, { holdsDestination: true }],
    [503, JSON.stringify({ error: errors('INTERNAL_ERROR') }), 3_600_000, {}],
    [200, partial('TOO_RECENT_EVENT'), 21_600_001, {}],
    [200, 'nothing', 3_600_000, {}],
  ])('is left alone for as long as it asks: %i %s', (status, text, retryAfterMs, more) => {
    const result = { kind: 'retry', reason: expect.any(String) as string, afterMs: retryAfterMs, ...more }
    expect(classifyGoogleResponse({ status, text, retryAfterMs })).toEqual(result)
  })
})

describe('a webhook', () => {
  const settings = checkSettings('webhook', { url: 'https://crm.example/in?from=sluice' }) as WebhookSettings

  it('is sent a signature to check, and no address of a person', () => {
    const { url, headers, body } = composeWebhookRequest(CONVERSION, settings, {
      secret: SECRETS.webhook,
      now: NOW,
      isTest: false,
    })
    expect(url).toBe('https://crm.example/in?from=sluice')
    const seconds = Math.floor(NOW / 1000)
    const mac = createHmac('sha256', SECRETS.webhook.signingKey).update(`${seconds}.${body}`).digest('hex')
    expect(headers['sluice-signature']).toBe(`t=${seconds},v1=${mac}`)
    expect(JSON.parse(body)).toEqual({
      id: EVENT_ID,
      type: 'conversion',
      data: {
        event: 'order paid',
        type: 'purchase',
        occurredAt: '2026-11-20T12:00:00.750Z',
        value: 49.9,
        currency: 'EUR',
        idempotencyKey: 'order-1001',
        contactId: CONVERSION.contactId,
        platformCustomerId: 'C-42',
        hashedEmails: CONVERSION.emails.map(sha256),
        hashedPhones: [sha256('+16505551212')],
        clickIds: { fbclid: 'IwAR2F4-dbP0', gclid: 'Cj0KCQ' },
      },
    })
    for (const trace of [...CONVERSION.emails, ...CONVERSION.phones]) expect(body).not.toContain(trace)
  })

  describe('is signed by Standard Webhooks', () => {
    const seconds = Math.floor(NOW / 1000)
    const headersWith = (secret: WebhookSecret, now = NOW) =>
      composeWebhookRequest(CONVERSION, settings, { secret, now, isTest: false })
    const sign = (key: Buffer | string, body: string) =>
      `v1,${createHmac('sha256', key).update(`${EVENT_ID}.${seconds}.${body}`).digest('base64')}`
    const bytes = Buffer.alloc(32, 7)

    // The example of the libraries of the specification.
    it('as its example says', () => {
      const key = keyBytes('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')
      const message = 'msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{"test": 2432232314}'
      expect(createHmac('sha256', key).update(message).digest('base64')).toBe(
        'g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
      )
    })

    it.each([
      ['base64 after whsec_', `whsec_${bytes.toString('base64')}`, bytes],
      ['base64 alone', bytes.toString('base64'), bytes],
      ['any other text', 'whsec_of_a_file_of_its_own', 'whsec_of_a_file_of_its_own'],
      ['base64 that is cut short', 'whsec_AAAAAAAAAAAAAAAAA', 'whsec_AAAAAAAAAAAAAAAAA'],
    ])('with a key of %s', (_, signingKey, key) => {
      const { headers, body } = headersWith({ signingKey })
      expect(headers).toMatchObject({ 'webhook-id': EVENT_ID, 'webhook-timestamp': String(seconds) })
      expect(headers['webhook-signature']).toBe(sign(key, body))
    })

    it('with both keys until the former one ends, and not a millisecond longer', () => {
      const [signingKey, formerKey] = ['n'.repeat(17), 'f'.repeat(17)]
      const secret = { signingKey, former: { signingKey: formerKey, until: NOW } }
      const before = headersWith(secret, NOW - 1)
      expect(before.headers['webhook-signature']).toBe(
        `${sign(signingKey, before.body)} ${sign(formerKey, before.body)}`,
      )
      expect(headersWith(secret).headers['webhook-signature']).toBe(sign(signingKey, before.body))
    })
  })

  test.each([
    [200, null, { kind: 'sent' }],
    [299, null, { kind: 'sent' }],
    [301, null, { kind: 'dead', reason: 'HTTP 301: redirects are not followed' }],
    [400, null, { kind: 'dead', reason: 'HTTP 400' }],
    [410, null, { kind: 'dead', reason: 'HTTP 410' }],
    [401, null, { kind: 'retry', reason: 'HTTP 401' }],
    [408, null, { kind: 'retry', reason: 'HTTP 408' }],
    [429, 2000, { kind: 'retry', reason: 'HTTP 429', afterMs: 2000, holdsDestination: true }],
    [500, null, { kind: 'retry', reason: 'HTTP 500' }],
    [503, 9000, { kind: 'retry', reason: 'HTTP 503', afterMs: 9000 }],
  ])('answers %i', (status, retryAfterMs, result) => {
    expect(classifyWebhookResponse({ status, text: 'john@x.io', retryAfterMs })).toEqual(result)
  })
})

test.each([
  [null, null],
  ['7', 7000],
  ['0', 0],
  ['Fri, 20 Nov 2026 12:00:30 GMT', 29_250],
  ['Fri, 20 Nov 2020 12:00:30 GMT', 0],
  ['86399', 86_399_000],
  ['86400', 86_400_000],
  ['86401', 86_400_000],
  ['99999999', 86_400_000],
  ['soon', null],
])('Retry-After of %j is %j ms', (text, ms) => {
  expect(readRetryAfter(text, NOW)).toBe(ms)
})

test('an idempotency key of up to 64 characters identifies a conversion to platforms; a longer one is replaced by the event’s id', () => {
  expect(deduplicationId({ ...CONVERSION, idempotencyKey: 'k'.repeat(64) })).toBe('k'.repeat(64))
  expect(deduplicationId({ ...CONVERSION, idempotencyKey: 'k'.repeat(65) })).toBe(EVENT_ID)
})

test.each([
  ['meta', {}, 'pixelId is missing'],
  ['meta', { pixelId: '7/7' }, "pixelId must be the platform's number"],
  ['meta', { pixelId: '7', actionSource: 'website' }, 'actionSource must be one of system_generated'],
  ['meta', { pixelId: '7', other: 1 }, 'there is no setting other'],
  [
    'meta',
    { pixelId: '7', baseUrl: 'https://me:pass@x.io' },
    'baseUrl must be an http or https address without a password',
  ],
  ['meta', { pixelId: '7', apiVersion: '../v1' }, 'apiVersion must be a version'],
  ['google', { customerId: '1' }, 'conversionActions is missing'],
  ['google', { customerId: '1', conversionActions: {} }, 'conversionActions must be'],
  ['google', { customerId: '1', conversionActions: { lead: 'x' } }, 'conversionActions.lead must be'],
  ['webhook', { url: 'file:///etc/passwd' }, 'url must be an http or https address'],
  ['webhook', { url: 'https://x.io', all: 'perhaps' }, 'all must be true or false'],
] as const)('settings for %s are refused: %j', (kind, settings, fault) => {
  expect(() => checkSettings(kind, settings)).toThrow(fault)
})

test('the fault of a secret shows no part of the secret', () => {
  expect(() => checkSecret('webhook', { signingKey: 'too short' })).toThrow(
    /^signingKey must be a key of 16 to 256 characters$/,
  )
  expect(() => checkSecret('google', { ...SECRETS.google, clientSecret: 'with a\nnewline' })).toThrow(
    /^clientSecret must be 1 to 4,096 characters without spaces$/,
  )
  expect(checkSecret('webhook', { signingKey: 'k'.repeat(16) })).toEqual({ signingKey: 'k'.repeat(16) })
})
