/** Routes about segments, campaigns, and what is sent to whom. */
import * as made from './business.ts'
import type { ActingBusiness } from './business.ts'
import { type AuditedCalls, type Call, ONLY_READS, ONLY_TRIES, adds, counts, nothing, on, once } from './call.ts'
import { changes, changesBusiness, changesMany, creates } from './entries.ts'

const PHONE = '+972501234567'
const SEGMENT = { name: 'Gold', description: 'They pay most.', rule: { tag: 'gold', operator: 'has' } }
const TEMPLATE = { name: 'Other', variants: { en: { text: 'Hi' } } }
const MESSAGING = { quietHours: { from: '22:00', to: '08:00' }, caps: [{ channel: 'sms', atMost: 1, days: 1 }] }
const CAMPAIGN = { name: 'Other', canEnterAgain: true, goal: { event: 'purchase' }, ...MESSAGING }
const PAST = { from: Date.now() - 60_000 }
const SMTP = { provider: 'smtp', host: '127.0.0.1', port: 9, sender: 'shop@shop.invalid' }
const TOPIC = { key: 'news', channels: ['email'], default: 'unsubscribed', names: { en: { name: 'News' } } }
const TOPIC_CHANGE = { visibility: 'private', position: 7 }
const addTopic = (business: ActingBusiness): Promise<string> => business.create('/topics', TOPIC, 'topic', 'key')
const RECEIPTS = { key: 'receipts', channel: 'email', ...SMTP }
/** Nobody listens there. */
const WEBHOOK = { provider: 'webhook', url: 'http://127.0.0.1:9/', secret: 'whsec_0123456789abcdef' }

async function withBacktest(business: ActingBusiness): Promise<Call> {
  const campaignId = await made.addCampaign(business)
  const backtestId = await business.create(`/campaigns/${campaignId}/backtest`, PAST, 'backtestId')
  return { ids: { campaignId, backtestId } }
}

async function withWebhook({ owner }: ActingBusiness): Promise<Call> {
  await owner.send('PUT', '/channels/webhook', WEBHOOK)
  return { ids: { channel: 'webhook' } }
}

async function withPausedChannel(business: ActingBusiness): Promise<Call> {
  const { service, businessId } = business
  const call = await withWebhook(business)
  await service.sql`update channels set paused_at = 1, pause_reason = 'refused' where business_id = ${businessId}`
  return call
}

async function withMail({ owner }: ActingBusiness): Promise<Call> {
  await owner.send('PUT', '/channels/email', SMTP)
  return { ids: { channel: 'email' }, json: { selectors: ['s1'] } }
}

async function withSender({ owner }: ActingBusiness): Promise<Call> {
  await owner.send('POST', '/senders', RECEIPTS)
  return { ids: { sender: 'receipts' } }
}

async function withPausedSender(business: ActingBusiness): Promise<Call> {
  const call = await withSender(business)
  await business.owner.send('POST', '/senders/receipts/pause')
  return call
}

async function withSuppression(business: ActingBusiness): Promise<Call> {
  await made.addSuppression(business)
  return { query: 'reason=stop' }
}

const SENT = 'the message itself says it'

/** To a contact without an address: it is answered as skipped. */
async function withCall(business: ActingBusiness): Promise<Call> {
  const platformCustomerId = crypto.randomUUID()
  await business.key.send('POST', '/sdk/identify', { identity: { platformCustomerId } })
  return { json: { to: { platformCustomerId }, template: await made.addTemplate(business) } }
}

async function withMessages({ service, businessId }: ActingBusiness): Promise<Call> {
  const email = `${crypto.randomUUID()}@x.io`
  await service.sql`
    insert into calls (business_id, message_id, template_id, called_at, address)
    values (${businessId}, gen_random_uuid(), gen_random_uuid(), 1, ${email})`
  return { query: `address=${email}` }
}

export const OF_AUDIENCES: AuditedCalls = {
  'POST /segments': [adds(creates('segment.create', 'segment', 'segmentId'), { json: made.SEGMENT })],
  'POST /segments/preview': [nothing(ONLY_READS, { json: { rule: made.SEGMENT.rule } })],
  'PATCH /segments/:segmentId': [
    once(adds(changes('segment.update', 'name', 'description', 'rule'), on('segmentId', made.addSegment, SEGMENT))),
  ],
  'DELETE /segments/:segmentId': [adds('segment.delete', on('segmentId', made.addSegment))],
  'GET /segments/:segmentId/export': [adds('segment.export', on('segmentId', made.addSegment))],
  'POST /campaigns': [
    adds(creates('campaign.create', 'campaign', 'campaignId'), {
      json: { name: 'Welcome', trigger: { event: 'signup' } },
    }),
  ],
  'PATCH /campaigns/:campaignId': [
    once(
      adds(
        changes('campaign.update', 'name', 'canEnterAgain', 'goal', 'quietHours', 'caps'),
        on('campaignId', made.addCampaign, CAMPAIGN),
      ),
    ),
  ],
  'DELETE /campaigns/:campaignId': [adds('campaign.delete', on('campaignId', made.addCampaign))],
  'POST /campaigns/:campaignId/publish': [once(adds('campaign.publish', on('campaignId', made.addCampaign)))],
  'POST /campaigns/:campaignId/pause': [once(adds('campaign.pause', on('campaignId', made.addPublished)))],
  'POST /campaigns/:campaignId/resume': [once(adds('campaign.resume', on('campaignId', made.addPaused)))],
  'POST /campaigns/:campaignId/archive': [once(adds('campaign.archive', on('campaignId', made.addPublished)))],
  'POST /campaigns/:campaignId/duplicate': [
    adds(creates('campaign.duplicate', 'campaign', 'campaignId'), on('campaignId', made.addCampaign)),
  ],
  'POST /campaigns/:campaignId/test': [adds('campaign.test', on('campaignId', made.addCampaign, { to: PHONE }))],
  'POST /campaigns/:campaignId/simulate': [
    nothing(ONLY_TRIES, on('campaignId', made.addCampaign, { contact: { phone: PHONE } })),
  ],
  'POST /campaigns/:campaignId/backtest': [nothing(ONLY_TRIES, on('campaignId', made.addCampaign, PAST))],
  'DELETE /campaigns/:campaignId/backtest/:backtestId': [nothing(ONLY_TRIES, withBacktest)],
  'PUT /messaging': [once(adds(changesBusiness('messaging.update', 'quietHours', 'caps'), { json: MESSAGING }))],
  'POST /messages': [nothing(SENT, withCall)],
  'DELETE /messages': [once(adds(changesMany('message.erase'), withMessages))],
  'POST /messages/:messageId/settle': [
    once(adds('message.settle', on('messageId', made.addMessage, { state: 'sent' }))),
  ],
  'POST /templates': [
    adds(creates('template.create', 'template', 'templateId'), { json: made.templateOf('sms', 'Hello') }),
  ],
  'PATCH /templates/:templateId': [
    once(adds(changes('template.update', 'name', 'variants'), on('templateId', made.addTemplate, TEMPLATE))),
  ],
  'DELETE /templates/:templateId': [adds('template.delete', on('templateId', made.addTemplate))],
  'POST /topics': [adds(creates('topic.create', 'topic', 'key'), { json: TOPIC })],
  'PATCH /topics/:topicKey': [
    once(adds(changes('topic.update', 'visibility', 'position'), on('topicKey', addTopic, TOPIC_CHANGE))),
  ],
  'DELETE /topics/:topicKey': [adds('topic.delete', on('topicKey', addTopic))],
  'POST /templates/:templateId/preview': [nothing(ONLY_READS, on('templateId', made.addTemplate, {}))],
  'PUT /channels/:channel': [
    adds(changes('channel.save', 'url', 'secret'), { ids: { channel: 'webhook' }, json: WEBHOOK }),
  ],
  'DELETE /channels/:channel': [once(adds('channel.remove', withWebhook))],
  'POST /channels/:channel/resume': [once(adds('channel.resume', withPausedChannel))],
  'POST /channels/:channel/test': [adds('channel.test', { ids: { channel: 'sms' }, json: { to: PHONE } })],
  'POST /channels/:channel/check': [nothing(ONLY_READS, withMail)],
  'POST /senders': [
    adds({ ...creates('sender.save', 'sender', 'key'), fields: ['host', 'port', 'sender'] }, { json: RECEIPTS }),
  ],
  'PATCH /senders/:sender': [
    once(
      adds(changes('sender.save', 'perSecond'), async (business) => ({
        ...(await withSender(business)),
        json: { perSecond: 5 },
      })),
    ),
  ],
  'DELETE /senders/:sender': [adds('sender.remove', withSender)],
  'POST /senders/:sender/pause': [once(adds('sender.pause', withSender))],
  'POST /senders/:sender/resume': [once(adds('sender.resume', withPausedSender))],
  'POST /senders/:sender/test': [
    adds('channel.test', async (business) => ({ ...(await withSender(business)), json: { to: 'a@shop.invalid' } })),
  ],
  'POST /senders/:sender/check': [
    nothing(ONLY_TRIES, async (business) => ({ ...(await withSender(business)), json: {} })),
  ],
  'POST /suppressions': [once(counts(changesMany('suppression.add'), () => ({ json: made.newSuppression() })))],
  'DELETE /suppressions': [once(counts(changesMany('suppression.lift'), withSuppression))],
  'DELETE /suppressions/:suppressionId': [counts('suppression.lift', on('suppressionId', made.addSuppression))],
}
