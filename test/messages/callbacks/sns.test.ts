/** Messages of Amazon SNS are checked with Amazon's own certificate. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CallbackFact, type Callback } from '../../../src/messages/callbacks/callbacks.ts'
import { sesCallbacks } from '../../../src/messages/callbacks/ses.ts'
import { isAmazonAddress } from '../../../src/messages/callbacks/sns.ts'
import { type SnsSigner, openSnsSigner } from './sns-signer.ts'

let signer: SnsSigner
let pem: string
beforeAll(() => {
  signer = openSnsSigner()
  ;({ pem } = signer)
})
afterAll(() => signer.close())

const NOW = Date.now()
const signed: SnsSigner['sign'] = (...args) => signer.sign(...args)

const callbackOf = (message: unknown): Callback => ({
  url: 'https://shop.example/api/hooks/email/ses/token',
  headers: new Headers({ 'content-type': 'text/plain; charset=UTF-8' }),
  body: Buffer.from(JSON.stringify(message)),
  receivedAt: NOW,
})
const SETUP = { settings: {}, secret: {} }
const isVerified = async (message: unknown, fetched: string[] = [], text = pem) =>
  sesCallbacks.verify(callbackOf(message), SETUP, {
    fetchText: (url) => {
      fetched.push(url)
      return Promise.resolve(text)
    },
  })

/** As in "HTTP/HTTPS notification JSON format" of the documentation. */
const notification = (event: unknown) => ({
  Type: 'Notification',
  MessageId: '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324',
  TopicArn: 'arn:aws:sns:us-west-2:123456789012:MyTopic',
  Subject: 'My First Message',
  Message: JSON.stringify(event),
  Timestamp: '2012-05-02T00:54:06.655Z',
})
const confirmation = {
  Type: 'SubscriptionConfirmation',
  MessageId: '165545c9-2a5c-472c-8df2-7ff2be2b3b1b',
  Token: '2336412f37',
  TopicArn: 'arn:aws:sns:us-west-2:123456789012:MyTopic',
  Message: 'You have chosen to subscribe to the topic.',
  SubscribeURL: 'https://sns.us-west-2.amazonaws.com/?Action=ConfirmSubscription&Token=2336412f37',
  Timestamp: '2012-04-26T20:45:04.751Z',
}

describe("an address of Amazon's", () => {
  it.each([
    'https://sns.us-east-1.amazonaws.com/SimpleNotificationService-0000.pem',
    'https://sns.us-gov-west-1.amazonaws.com/x.pem',
    'https://sns.cn-north-1.amazonaws.com.cn/x.pem',
    'https://sns.ap-southeast-2.amazonaws.com:443/x.pem',
  ])('%s is one', (url) => expect(isAmazonAddress(url)).toBe(true))

  it.each([
    'http://sns.us-east-1.amazonaws.com/x.pem',
    'https://sns.us-east-1.amazonaws.com.evil.example/x.pem',
    'https://evil.example/sns.us-east-1.amazonaws.com/x.pem',
    'https://sns.us-east-1.amazonaws.com@evil.example/x.pem',
    'https://user@sns.us-east-1.amazonaws.com/x.pem',
    'https://sns.us-east-1.amazonaws.com:8443/x.pem',
    'https://sns-us-east-1.amazonaws.com/x.pem',
    'https://bucket.s3.us-east-1.amazonaws.com/x.pem',
    'https://sns.amazonaws.com.s3.us-east-1.amazonaws.com/x.pem',
    'https://sns.us-east-1.amazonaws.org/x.pem',
    'https://evil.sns.us-east-1.amazonaws.com/x.pem',
    'https://sns.evil.amazonaws.com/x.pem',
    'https://127.0.0.1/x.pem',
    'sns.us-east-1.amazonaws.com',
    '',
  ])('%s is none', (url) => expect(isAmazonAddress(url)).toBe(false))
})

describe('a message', () => {
  it('is from Amazon if its certificate has signed it, with either version', async () => {
    for (const version of ['1', '2'] as const) {
      expect(await isVerified(signed(notification({}), version))).toBe(true)
      expect(await isVerified(signed(confirmation, version))).toBe(true)
    }
    const { Subject: _, ...without } = notification({})
    expect(await isVerified(signed(without))).toBe(true)
  })

  it('is fetched the certificate of once', async () => {
    const fetched: string[] = []
    const message = signed(notification({}))
    for (let n = 0; n < 3; n += 1) expect(await isVerified(message, fetched)).toBe(true)
    expect(fetched).toEqual([message.SigningCertURL])
  })

  it('is not when anything of it was changed', async () => {
    const message = signed(notification({ a: 1 }))
    for (const name of Object.keys(notification({})))
      expect([
        name,
        await isVerified({ ...message, [name]: `${String((message as Record<string, unknown>)[name])}x` }),
      ]).toEqual([name, false])
    expect(await isVerified({ ...message, Signature: Buffer.from('x').toString('base64') })).toBe(false)
    expect(await isVerified({ ...message, SignatureVersion: '3' })).toBe(false)
    expect(await isVerified({ ...message, SignatureVersion: '1' })).toBe(false)
    for (const other of [null, [], 'x', {}, { Type: 'Notification' }]) expect(await isVerified(other)).toBe(false)
  })

  it('is not by a certificate from elsewhere, and none is fetched there', async () => {
    const fetched: string[] = []
    for (const url of [
      'https://evil.example/x.pem',
      'http://sns.us-east-1.amazonaws.com/x.pem',
      'https://sns.us-east-1.amazonaws.com/x.txt',
    ])
      expect(await isVerified(signed(notification({}), '2', url), fetched)).toBe(false)
    expect(fetched).toEqual([])
  })

  it('is not by an invalid certificate, or one that has ended', async () => {
    expect(await isVerified(signed(notification({})), [], 'no certificate')).toBe(false)
    const later = { ...callbackOf(signed(notification({}))), receivedAt: NOW + 10 * 86_400_000 }
    expect(await sesCallbacks.verify(later, SETUP, { fetchText: () => Promise.resolve(pem) })).toBe(false)
  })
})

const MESSAGE_ID = '0198c5a0-a3f4-7d10-9e21-6c4b8f0a2d37'
/** As in "Examples of event data that Amazon SES publishes to Amazon SNS". */
const mail = {
  timestamp: '2017-08-05T00:40:02.012Z',
  messageId: 'EXAMPLE7c191be45-e9aedb9a-02f9-4d12-a87d-dd0099a07f8a-000000',
  destination: ['recipient@example.com'],
  tags: { 'ses:configuration-set': ['ConfigSet'], 'sluice-message': [MESSAGE_ID] },
}
const bounce = (more: object, recipient: object = {}) => ({
  eventType: 'Bounce',
  bounce: {
    bounceType: 'Permanent',
    bounceSubType: 'General',
    bouncedRecipients: [{ emailAddress: 'recipient@example.com', action: 'failed', ...recipient }],
    timestamp: '2017-08-05T00:41:02.669Z',
    ...more,
  },
  mail,
})
const read = (event: unknown) => sesCallbacks.read(callbackOf(notification(event)), SETUP)
const reportOf = (event: unknown) => read(event).map((fact) => fact.kind === 'report' && fact.report)
const at = Date.UTC(2017, 7, 5, 0, 41, 2, 669)

describe('an event of SES', () => {
  it('names the message by its tag and by its id', () => {
    const [fact] = read({ eventType: 'Delivery', delivery: { timestamp: '2017-08-05T00:41:02.669Z' }, mail })
    expect(fact).toEqual({
      kind: 'report',
      report: { state: 'delivered', at },
      messageId: MESSAGE_ID,
      providerMessageId: mail.messageId,
      address: 'recipient@example.com',
      detail: null,
    } satisfies CallbackFact)
    const { tags: _, ...untagged } = mail
    expect(read({ notificationType: 'Delivery', delivery: {}, mail: untagged })).toMatchObject([
      { messageId: null, providerMessageId: mail.messageId },
    ])
  })

  it('is what it says', () => {
    expect(reportOf({ eventType: 'Send', send: {}, mail })).toMatchObject([{ state: 'sent' }])
    expect(reportOf({ eventType: 'Reject', reject: { reason: 'Bad content' }, mail })).toMatchObject([
      { state: 'failed', blame: 'sender' },
    ])
    const complaint = {
      complainedRecipients: [{ emailAddress: 'recipient@example.com' }],
      timestamp: '2017-08-05T00:41:02.669Z',
    }
    expect(reportOf({ eventType: 'Complaint', complaint, mail })).toEqual([
      { state: 'complained', at, blame: 'complaint' },
    ])
    const complaintOf = (complaintFeedbackType: string) =>
      reportOf({ eventType: 'Complaint', complaint: { ...complaint, complaintFeedbackType }, mail })
    expect(complaintOf('not-spam')).toEqual([])
    for (const type of ['abuse', 'auth-failure', 'fraud', 'other', 'virus', 'new-type', ''])
      expect([type, complaintOf(type)]).toEqual([type, [{ state: 'complained', at, blame: 'complaint' }]])
    for (const other of ['Open', 'Click', 'DeliveryDelay', 'Subscription', 'toString', ''])
      expect(read({ eventType: other, mail })).toEqual([])
    for (const other of [null, 'x', []]) expect(read(other)).toEqual([])
  })

  it.each([
    [{}, { status: '5.1.1', diagnosticCode: 'smtp; 550 5.1.1 user unknown' }, 'bounced', 'hard_bounce'],
    [{}, { status: '5.0.0', diagnosticCode: 'smtp; 550 user unknown' }, 'bounced', 'hard_bounce'],
    [
      { bounceSubType: 'Suppressed' },
      { status: '5.1.1', diagnosticCode: 'Amazon SES has suppressed it' },
      'bounced',
      'hard_bounce',
    ],
    [{}, {}, 'bounced', 'hard_bounce'],
    [{}, { status: '5.7.1', diagnosticCode: 'smtp; 550 5.7.1 blocked' }, 'failed', 'sender'],
    [{}, { status: '5.7.1' }, 'failed', 'sender'],
    [{}, { status: '5.2.2', diagnosticCode: 'smtp; 552 5.2.2 mailbox full' }, 'bounced', 'recipient'],
    [{}, { status: '5.2.2' }, 'bounced', 'recipient'],
    [{}, { status: '5.4.1' }, 'bounced', 'hard_bounce'],
    [{ bounceType: 'Transient', bounceSubType: 'MailboxFull' }, { status: '5.2.2' }, 'bounced', 'recipient'],
    [{ bounceType: 'Undetermined' }, {}, 'bounced', 'recipient'],
    // The reply says more than the type.
    [{ bounceType: 'Transient' }, { diagnosticCode: 'smtp; 550 5.1.1 user unknown' }, 'bounced', 'hard_bounce'],
    [{ bounceType: 'Transient' }, { status: '5.1.1' }, 'bounced', 'hard_bounce'],
    [{ bounceType: 'Undetermined' }, { diagnosticCode: 'smtp; 550-5.2.1 disabled' }, 'bounced', 'hard_bounce'],
    [{ bounceType: 'Undetermined' }, { diagnosticCode: 'smtp; 550 5.4.1 recipient no' }, 'bounced', 'hard_bounce'],
    [{ bounceType: 'Transient' }, { status: '5.1.1', diagnosticCode: 'smtp; 450 4.1.1 no' }, 'bounced', 'recipient'],
    [{ bounceType: 'Transient' }, { status: '4.1.1' }, 'bounced', 'recipient'],
    [{ bounceType: 'Transient' }, { diagnosticCode: 'smtp; 550 user unknown' }, 'bounced', 'recipient'],
    [{ bounceType: 'Transient' }, { diagnosticCode: 'smtp; 550 5.7.1 blocked' }, 'bounced', 'recipient'],
    [{ bounceType: 'Undetermined' }, { status: '5.4.1' }, 'bounced', 'recipient'],
  ])('bounce %j of %j is %s by the %s', (more, recipient, state, blame) => {
    expect(reportOf(bounce(more, recipient))).toEqual([{ state, blame, at }])
  })

  const HARD = [
    '550 5.4.1 Recipient address rejected: Access denied. [mx.protection.outlook.com]',
    "554 delivery error: dd This user doesn't have a yahoo.com account",
    '554 30 Sorry, your message cannot be delivered. This mailbox is disabled (554.30)',
    '550 5.5.0 Requested action not taken: mailbox unavailable',
    '550 5.1.0 Address rejected',
    '554 5.7.1 <x@y.example>: user does not exist',
    '554 no',
  ]
  const OF_SENDER = ['550 blocked using a blocklist', '554 spam', '550 5.7.1 no', '550 5.4.1 refused by policy']
  it.each([
    ...HARD.map((said): [string, string, string] => [said, 'bounced', 'hard_bounce']),
    ...OF_SENDER.map((said): [string, string, string] => [said, 'failed', 'sender']),
  ])('that is permanent with %j is %s by the %s', (said, state, blame) => {
    const recipient = { status: '5.0.0', diagnosticCode: `smtp; ${said}` }
    expect(reportOf(bounce({}, recipient))).toEqual([{ state, blame, at }])
  })

  it('confirms a subscription at an address of Amazon alone', () => {
    const read2 = (message: object) => sesCallbacks.read(callbackOf(message), SETUP)
    expect(read2(confirmation)).toEqual([{ kind: 'confirm', url: confirmation.SubscribeURL }])
    expect(read2({ ...confirmation, SubscribeURL: 'https://evil.example/' })).toEqual([])
    expect(read2({ ...confirmation, Type: 'UnsubscribeConfirmation' })).toEqual([])
  })
})
