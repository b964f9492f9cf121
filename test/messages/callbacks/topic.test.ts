/** Amazon SNS reports through one topic. */
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { receiveCallback } from '../../../src/messages/callbacks/receive-callback.ts'
import { removeChannel, saveChannel } from '../../../src/messages/channels/save-channel.ts'
import { LOOPBACK_GUARD, SECRETS_KEY } from '../../deliveries/delivery-lab.ts'
import { businessId, stack, useFreshBusiness } from '../../support/fresh-business.ts'
import { ACTOR } from '../../campaigns/engine-lab.ts'
import { type SnsSigner, openSnsSigner } from './sns-signer.ts'

useFreshBusiness()

let signer: SnsSigner
let opened: string[]
beforeAll(() => {
  signer = openSnsSigner()
})
afterAll(() => signer.close())
beforeEach(() => {
  opened = []
  return setUp()
})

const NOW = Date.now()
const keyOf = () => ({ businessId, channel: 'email' as const, actor: ACTOR })
async function setUp(more: Record<string, unknown> = {}): Promise<void> {
  const settings = {
    provider: 'ses',
    region: 'eu-central-1',
    accessKeyId: 'AKIA1',
    secretAccessKey: 's',
    sender: 'hello@shop.example',
    ...more,
  }
  const deps = { sql: stack.sql, guard: LOOPBACK_GUARD, secretsKey: SECRETS_KEY, now: () => NOW }
  const saved = await saveChannel(deps, keyOf(), () => settings)
  expect(saved.kind).toBe('saved')
}

const topicOf = (name: string) => `arn:aws:sns:eu-central-1:123456789012:${name}`
const confirmation = (topic: string) => ({
  Type: 'SubscriptionConfirmation',
  MessageId: crypto.randomUUID(),
  Token: '2336412f37',
  TopicArn: topicOf(topic),
  Message: 'You have chosen to subscribe to the topic.',
  SubscribeURL: `https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=${topic}`,
  Timestamp: '2020-04-26T20:45:04.751Z',
})
const notification = (topic: string, id = 'none') => ({
  Type: 'Notification',
  MessageId: crypto.randomUUID(),
  TopicArn: topicOf(topic),
  Message: JSON.stringify({ eventType: 'Delivery', delivery: {}, mail: { messageId: id } }),
  Timestamp: '2020-05-02T00:54:06.655Z',
})
async function receive(message: Record<string, unknown>): Promise<string> {
  const { sql } = stack
  const fetchText = (url: string) => {
    if (!url.endsWith('.pem')) opened.push(url)
    return Promise.resolve(signer.pem)
  }
  const body = Buffer.from(JSON.stringify(signer.sign(message)))
  const callback = { url: 'https://shop.example/hook', headers: new Headers(), body, receivedAt: NOW }
  const deps = { sql, log: pino({ level: 'silent' }), secretsKey: SECRETS_KEY, fetchText }
  return (await receiveCallback(deps, { ...keyOf(), sender: 'default', provider: 'ses' }, callback)).kind
}

it('the first one that is confirmed is the only one', async () => {
  expect(await receive(confirmation('ours'))).toBe('taken')
  expect(opened).toHaveLength(1)
  for (const message of [notification('theirs'), confirmation('theirs')]) expect(await receive(message)).toBe('forged')
  expect(opened).toHaveLength(1)
  for (const message of [notification('ours'), confirmation('ours')]) expect(await receive(message)).toBe('taken')
})

it('one that was subscribed before is pinned by what it reports', async () => {
  expect(await receive(notification('ours'))).toBe('taken')
  expect(await receive(notification('theirs'))).toBe('forged')
})

it('one of two at once is', async () => {
  const outcomes = await Promise.all(['a', 'b', 'a', 'b'].map((topic) => receive(notification(topic))))
  expect(outcomes.toSorted()).toEqual(['forged', 'forged', 'taken', 'taken'])
})

it('a message without one, or with one that is too long, is refused', async () => {
  const { TopicArn: _, ...without } = notification('ours')
  expect(await receive(without)).toBe('forged')
  expect(await receive(notification('x'.repeat(512)))).toBe('forged')
})

it('stays when the settings change, and not with another account, or after they were deleted', async () => {
  await receive(confirmation('ours'))
  await setUp({ sender: 'other@shop.example' })
  expect(await receive(notification('theirs'))).toBe('forged')
  await setUp({ accessKeyId: 'AKIA2' })
  // The topic of the previous account is still accepted, and does not take the place of the new one.
  expect(await receive(notification('ours'))).toBe('taken')
  expect(await receive(notification('theirs'))).toBe('taken')
  expect(await receive(notification('third'))).toBe('forged')
  expect(await receive(notification('ours'))).toBe('taken')
  await removeChannel({ sql: stack.sql, now: () => NOW }, keyOf())
  expect(await receive(notification('theirs'))).toBe('forged')
  await setUp()
  expect(await receive(notification('third'))).toBe('taken')
})
