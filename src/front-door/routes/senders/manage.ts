/** Reads senders, changes and tests them. */
import { RequestError } from '../../../errors.ts'
import {
  MAX_SENDERS,
  type SenderOutcome,
  createSender,
  deleteSender as deleteOne,
  updateSender,
} from '../../../messages/channels/change-sender.ts'
import {
  DEFAULT_SENDER,
  type SenderKey,
  type StoredChannel,
  channelsOfSender,
  connectionOf,
  listSenders,
  loadSender,
} from '../../../messages/channels/channels.ts'
import { pauseSender, resumeSender } from '../../../messages/channels/pause-channel.ts'
import { MAX_REPORT_DAYS, readUsed, reportSender } from '../../../messages/channels/report-sender.ts'
import { showSenders } from '../../../messages/channels/show-sender.ts'
import { MESSAGE_CHANNELS } from '../../../messages/templates/template.ts'
import { isSenderKey } from '../../../rules/campaigns/read-senders.ts'
import { faultOf } from '../../../rules/faults.ts'
import { createDayOf } from '../../../rules/local-days.ts'
import { isRecord } from '../../../rules/is-record.ts'
import type { Principal } from '../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../app-context.ts'
import { invalidRequest } from '../../http/check-body.ts'
import { BODY_LIMITS } from '../../http/read-body.ts'
import { invalidCursor, queryOf, readPage } from '../../http/read-page.ts'
import { receiveBody } from '../../http/receive-body.ts'
import { readInstants } from '../segments/read-instants.ts'
import { lookUp, senderNotFound, testSender } from '../channels/manage.ts'

export const LISTED = 'The senders.'
export const READ = 'The sender.'
export const CREATED = 'The sender is created.'
export const UPDATED = 'The sender is changed.'
export const REPORTED = 'The report of the sender.'
export const DELETED = 'The sender is deleted.'
export const PAUSED = 'The sender is paused.'
export const RESUMED = 'The sender is running.'

export async function getSenders(app: AppContext, context: RequestContext, { business }: Principal): Promise<Reply> {
  const { limit, cursor } = readPage(context)
  const all = await listSenders(app.sql, business.id)
  const last = all.findIndex((one) => cursorOf(one) === cursor)
  if (cursor !== null && last < 0) throw invalidCursor()
  const page = all.slice(last + 1, last + 1 + limit)
  const end = page.at(-1)
  const nextCursor = last + 1 + limit < all.length && end !== undefined ? cursorOf(end) : null
  return { message: LISTED, data: { senders: await showSenders(app, business.id, page), nextCursor } }
}

const cursorOf = ({ channel, key }: StoredChannel): string => `${channel}.${key}`

export async function getSender(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  return { message: READ, data: await show(app, principal, await requireSender(app, context, principal)) }
}

export async function postSender(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const { business, actor } = principal
  const body = await receiveObject(app, context, principal)
  const outcome = await createSender(depsOf(app), { businessId: business.id, actor }, body)
  return { message: CREATED, data: await show(app, principal, savedOf(outcome)) }
}

export async function patchSender(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const key = await requireKey(app, context, principal)
  const body = await receiveObject(app, context, principal)
  const outcome = await updateSender(depsOf(app), { ...key, actor: principal.actor }, body)
  return { message: UPDATED, data: await show(app, principal, savedOf(outcome)) }
}

export async function deleteSender(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const key = await requireKey(app, context, principal)
  const outcome = await deleteOne(app, { ...key, actor: principal.actor })
  switch (outcome.kind) {
    case 'not_found':
      throw senderNotFound()
    case 'default':
      throw new RequestError('in_use', { reason: faultOf('', 'default_sender') })
    case 'in_use':
      throw new RequestError('in_use', { reason: faultOf('', 'used_by', { names: outcome.names.join(', ') }) })
    case 'deleted':
      return { message: DELETED, data: { key: key.sender } }
  }
}

/** A sender with `via` is paused and resumed with its connection. */
export async function postPause(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const stored = await requireSender(app, context, principal)
  const connection = connectionOf(principal.business.id, stored)
  await pauseSender(app.sql, { ...connection, actor: principal.actor }, app.now())
  return { message: PAUSED, data: await show(app, principal, await requireSender(app, context, principal)) }
}

export async function postResume(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const stored = await requireSender(app, context, principal)
  const connection = connectionOf(principal.business.id, stored)
  await resumeSender(app.sql, { ...connection, actor: principal.actor }, app.now())
  app.wake('calls')
  return { message: RESUMED, data: await show(app, principal, await requireSender(app, context, principal)) }
}

export async function postTest(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  return testSender(app, context, principal, await requireKey(app, context, principal))
}

export async function postCheck(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  await lookUp(app, context, principal, () => requireSender(app, context, principal))
  return { message: READ, data: await show(app, principal, await requireSender(app, context, principal)) }
}

const DEFAULT_RANGE_MS = 30 * 86_400_000

export async function getReport(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const { id: businessId, timezone } = principal.business
  const stored = await requireSender(app, context, principal)
  const now = app.now()
  const { to = now, ...sent } = readInstants(queryOf(context), ['from', 'to'])
  const from = sent.from ?? to - DEFAULT_RANGE_MS
  if (from > to || to - from > MAX_REPORT_DAYS * 86_400_000)
    throw invalidRequest([faultOf('from', 'report_range', { max: MAX_REPORT_DAYS })])
  const { channel, key, dailyBudget, reserve } = stored
  const [days, used] = await Promise.all([
    reportSender(app.sql, { businessId, channel, sender: key, timezone }, { from, to }),
    readUsed(app.sql, businessId, now),
  ])
  const today = { day: createDayOf(timezone)(now), dailyBudget, reserve, used: used(connectionOf(businessId, stored)) }
  return { message: REPORTED, data: { key, days, today } }
}

const depsOf = (app: AppContext) => ({ ...app, secretsKey: app.config.secretsKey })

async function show(app: AppContext, { business }: Principal, stored: StoredChannel) {
  const [sender] = await showSenders(app, business.id, [stored])
  return { sender }
}

/** Throws RequestError for every other outcome. */
function savedOf(outcome: SenderOutcome): StoredChannel {
  switch (outcome.kind) {
    case 'saved':
      return outcome.sender
    case 'faults':
      throw invalidRequest(outcome.faults)
    case 'no_secrets_key':
      throw new RequestError('unavailable', { reason: faultOf('', 'secret_needs_key') })
    case 'taken':
      throw new RequestError('locked', { reason: faultOf('', 'sender_taken') })
    case 'too_many':
      throw new RequestError('limit_reached', { reason: faultOf('', 'senders_of_channel', { max: MAX_SENDERS }) })
    case 'locked':
      throw new RequestError('locked', { reason: faultOf('', 'sender_locked', { field: outcome.field }) })
    case 'not_found':
      throw senderNotFound()
  }
}

async function receiveObject(
  app: AppContext,
  context: RequestContext,
  { business }: Principal,
): Promise<Record<string, unknown>> {
  const { body } = await receiveBody(app, context, business, BODY_LIMITS.single)
  if (!isRecord(body)) throw invalidRequest([{ ...faultOf('', 'object'), message: 'The body must be an object' }])
  return body
}

export async function requireSender(
  app: AppContext,
  context: RequestContext,
  principal: Principal,
): Promise<StoredChannel> {
  const stored = await loadSender(app.sql, await requireKey(app, context, principal))
  if (stored === null) throw senderNotFound()
  return stored
}

/** Every channel has a sender `default`, so that its channel has to be said where more than one is set up. */
async function requireKey(
  app: AppContext,
  { params, request }: RequestContext,
  { business }: Principal,
): Promise<SenderKey> {
  const sender = params['sender'] ?? ''
  const said = new URL(request.url).searchParams.get('channel')
  const named = MESSAGE_CHANNELS.find((one) => one === said)
  if (!isSenderKey(sender) || (said !== null && named === undefined)) throw senderNotFound()
  const businessId = business.id
  if (sender === DEFAULT_SENDER && named !== undefined) return { businessId, channel: named, sender }
  const [channel, ...others] = await channelsOfSender(app.sql, businessId, sender)
  if (sender === DEFAULT_SENDER && (channel === undefined || others.length > 0))
    throw invalidRequest([{ ...faultOf('', 'sender_channel'), path: 'channel' }])
  if (channel === undefined || (named !== undefined && named !== channel)) throw senderNotFound()
  return { businessId, channel, sender }
}
