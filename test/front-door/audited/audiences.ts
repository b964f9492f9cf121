/** Routes about segments, campaigns, and what is sent to whom. */
import * as made from './business.ts'
import type { ActingBusiness } from './business.ts'
import { type AuditedCalls, type Call, ONLY_READS, ONLY_TRIES, adds, counts, nothing, on } from './call.ts'

const PHONE = '+972501234567'
const NAMED = { name: 'Other' }
const PAST = { from: Date.now() - 60_000 }
const SMTP = { provider: 'smtp', host: '127.0.0.1', port: 9, sender: 'shop@shop.invalid' }
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

async function withSender({ owner }: ActingBusiness): Promise<Call> {
  await owner.send('PUT', '/channels/email', SMTP)
  return { ids: { channel: 'email' }, json: { selectors: ['s1'] } }
}

async function withSuppression(business: ActingBusiness): Promise<Call> {
  await made.addSuppression(business)
  return { query: 'reason=stop' }
}

export const OF_AUDIENCES: AuditedCalls = {
  'POST /segments': [adds('segment.create', { json: made.SEGMENT })],
  'POST /segments/preview': [nothing(ONLY_READS, { json: { rule: made.SEGMENT.rule } })],
  'PATCH /segments/:segmentId': [adds('segment.update', on('segmentId', made.addSegment, NAMED))],
  'DELETE /segments/:segmentId': [adds('segment.delete', on('segmentId', made.addSegment))],
  'POST /campaigns': [adds('campaign.create', { json: { name: 'Welcome', trigger: { event: 'signup' } } })],
  'PATCH /campaigns/:campaignId': [adds('campaign.update', on('campaignId', made.addCampaign, NAMED))],
  'DELETE /campaigns/:campaignId': [adds('campaign.delete', on('campaignId', made.addCampaign))],
  'POST /campaigns/:campaignId/publish': [adds('campaign.publish', on('campaignId', made.addCampaign))],
  'POST /campaigns/:campaignId/pause': [adds('campaign.pause', on('campaignId', made.addPublished))],
  'POST /campaigns/:campaignId/resume': [adds('campaign.resume', on('campaignId', made.addPaused))],
  'POST /campaigns/:campaignId/archive': [adds('campaign.archive', on('campaignId', made.addPublished))],
  'POST /campaigns/:campaignId/duplicate': [adds('campaign.duplicate', on('campaignId', made.addCampaign))],
  'POST /campaigns/:campaignId/test': [adds('campaign.test', on('campaignId', made.addCampaign, { to: PHONE }))],
  'POST /campaigns/:campaignId/simulate': [
    nothing(ONLY_TRIES, on('campaignId', made.addCampaign, { contact: { phone: PHONE } })),
  ],
  'POST /campaigns/:campaignId/backtest': [nothing(ONLY_TRIES, on('campaignId', made.addCampaign, PAST))],
  'DELETE /campaigns/:campaignId/backtest/:backtestId': [nothing(ONLY_TRIES, withBacktest)],
  'PUT /messaging': [adds('messaging.update', { json: { caps: [{ channel: 'sms', atMost: 1, days: 1 }] } })],
  'POST /messages/:messageId/settle': [adds('message.settle', on('messageId', made.addMessage, { state: 'sent' }))],
  'POST /templates': [adds('template.create', { json: made.templateOf('sms', 'Hello') })],
  'PATCH /templates/:templateId': [adds('template.update', on('templateId', made.addTemplate, NAMED))],
  'DELETE /templates/:templateId': [adds('template.delete', on('templateId', made.addTemplate))],
  'POST /templates/:templateId/preview': [nothing(ONLY_READS, on('templateId', made.addTemplate, {}))],
  'PUT /channels/:channel': [adds('channel.save', { ids: { channel: 'webhook' }, json: WEBHOOK })],
  'DELETE /channels/:channel': [adds('channel.remove', withWebhook)],
  'POST /channels/:channel/resume': [adds('channel.resume', withPausedChannel)],
  'POST /channels/:channel/test': [adds('channel.test', { ids: { channel: 'sms' }, json: { to: PHONE } })],
  'POST /channels/:channel/check': [nothing(ONLY_READS, withSender)],
  'POST /suppressions': [counts('suppression.add', () => ({ json: made.newSuppression() }))],
  'DELETE /suppressions': [counts('suppression.lift', withSuppression)],
  'DELETE /suppressions/:suppressionId': [counts('suppression.lift', on('suppressionId', made.addSuppression))],
}
