/** Reads channels, sets them up, and tests them. */
import {
  type StoredChannel,
  type StoredCheck,
  connectionOf,
  listChannels,
  loadChannel,
} from '../../../messages/channels/channels.ts'
import { checkAndKeep } from '../../../messages/channels/keep-check.ts'
import { listLoggedMessages } from '../../../messages/channels/logged-messages.ts'
import { resumeSender } from '../../../messages/channels/pause-channel.ts'
import { removeChannel, saveChannel } from '../../../messages/channels/save-channel.ts'
import { MAX_TESTS_A_DAY, sendTest } from '../../../messages/channels/send-test.ts'
import { showChannels } from '../../../messages/channels/show-channel.ts'
import { MESSAGE_CHANNELS, type MessageChannel } from '../../../messages/templates/template.ts'
import { RequestError } from '../../../errors.ts'
import { resolveTxt } from '../../../outbound/resolve-txt.ts'
import { faultOf } from '../../../rules/faults.ts'
import { SealError } from '../../../stores/seal-secret.ts'
import { acquireSlot } from '../../access/concurrency-limit.ts'
import type { Principal } from '../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../app-context.ts'
import { compileCheck, invalidRequest, requireBody } from '../../http/check-body.ts'
import { isRecord } from '../../../rules/is-record.ts'
import { BODY_LIMITS } from '../../http/read-body.ts'
import { readId } from '../../../rules/read-id.ts'
import { invalidCursor, readPage } from '../../http/read-page.ts'
import { receiveBody } from '../../http/receive-body.ts'
import { contactNotFound } from '../contacts/contact-not-found.ts'
import { CheckSchema, TestSchema } from './schemas.ts'

export const LISTED = 'The channels.'
export const READ = 'The channel.'
export const SAVED = 'The channel is set up.'
export const REMOVED = 'Provider removed: messages are only logged.'
export const RESUMED = 'The channel is running.'
export const TESTED = 'The outcome of the test message.'
export const CHECKED = 'The records of the sender.'
export const LOGGED = 'The messages of the log.'

const checkTest = compileCheck(TestSchema)
const checkCheck = compileCheck(CheckSchema)

export async function getChannels(app: AppContext, _: RequestContext, { business }: Principal): Promise<Reply> {
  const stored = await listChannels(app.sql, business.id)
  return { message: LISTED, data: { channels: await showChannels(app, business.id, stored) } }
}

const show = async (app: AppContext, { business }: Principal, stored: StoredChannel) => {
  const [channel] = await showChannels(app, business.id, [stored])
  return { channel }
}

export async function getChannel(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const stored = await loadChannel(app.sql, keyOf(context, principal))
  return { message: READ, data: await show(app, principal, stored) }
}

export async function putChannel(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const key = keyOf(context, principal)
  const { body } = await receiveBody(app, context, principal.business, BODY_LIMITS.single)
  if (!isRecord(body)) throw invalidRequest([{ ...faultOf('', 'object'), message: 'The body must be an object' }])
  const deps = { ...app, secretsKey: app.config.secretsKey }
  const saved = await saveChannel(deps, { ...key, actor: principal.actor }, () => body)
  switch (saved.kind) {
    case 'faults':
      throw invalidRequest(saved.faults)
    case 'no_secrets_key':
      throw new RequestError('unavailable', { reason: faultOf('', 'secret_needs_key') })
    case 'saved':
      return { message: SAVED, data: await show(app, principal, saved.channel) }
  }
}

export async function deleteChannel(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const key = keyOf(context, principal)
  await removeChannel(app, { ...key, actor: principal.actor })
  return { message: REMOVED, data: await show(app, principal, await loadChannel(app.sql, key)) }
}

export async function postResume(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const key = keyOf(context, principal)
  const sender = connectionOf(key.businessId, await loadChannel(app.sql, key))
  await resumeSender(app.sql, { ...sender, actor: principal.actor }, app.now())
  app.wake('calls')
  return { message: RESUMED, data: await show(app, principal, await loadChannel(app.sql, key)) }
}

export const postTest = (app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> =>
  testSender(app, context, principal, keyOf(context, principal))

/** `sender`: absent for the default one of the channel. */
export async function testSender(
  app: AppContext,
  context: RequestContext,
  { business, actor }: Principal,
  { channel, sender }: { channel: MessageChannel; sender?: string },
): Promise<Reply> {
  const { body } = await receiveBody(app, context, business, BODY_LIMITS.single)
  const { to, language, ...sent } = requireBody(checkTest(body))
  const templateId = requireId(sent.templateId, templateNotFound)
  const contactId = requireId(sent.contactId, contactNotFound)
  await acquireSlot(app.slots.test, context, business.id)
  const tested = await withSealErrors(() =>
    sendTest(
      app,
      { business, actor, channel, ...(sender !== undefined && { sender }) },
      { to, templateId, contactId, language },
    ),
  )
  switch (tested.kind) {
    case 'faults':
      throw invalidRequest(tested.faults)
    case 'template_not_found':
      throw templateNotFound()
    case 'contact_not_found':
      throw contactNotFound()
    case 'sender_not_found':
      throw senderNotFound()
    case 'too_many':
      throw new RequestError('limit_reached', { reason: faultOf('', 'tests_a_day', { max: MAX_TESTS_A_DAY }) })
    case 'tested': {
      const { kind: outcome, blame: _, ...rest } = tested.outcome
      const { messageId, provider } = tested
      return { message: TESTED, data: { accepted: outcome === 'accepted', outcome, provider, messageId, ...rest } }
    }
  }
}

/** Throws RequestError `unavailable` when secrets cannot be opened. */
export async function withSealErrors<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (cause) {
    if (!(cause instanceof SealError)) throw cause
    throw new RequestError('unavailable', { reason: faultOf('', 'sealed_secrets'), cause })
  }
}

export async function postCheck(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const key = keyOf(context, principal)
  const { at: _, selectors: __, ...found } = await lookUp(app, context, principal, () => loadChannel(app.sql, key))
  return { message: CHECKED, data: found }
}

/** Looks up the records of a sender, and keeps what it finds. */
export async function lookUp(
  app: AppContext,
  context: RequestContext,
  { business }: Principal,
  load: () => Promise<StoredChannel>,
): Promise<StoredCheck> {
  const { body } = await receiveBody(app, context, business, BODY_LIMITS.single)
  const { selectors } = requireBody(checkCheck(body))
  await acquireSlot(app.slots.test, context, business.id)
  const found = await checkAndKeep({ ...app, resolveTxt }, business.id, await load(), selectors)
  if (found === null) throw invalidRequest([{ ...faultOf('', 'no_sender'), path: 'channel' }])
  return found
}

export async function getLog({ sql }: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const key = keyOf(context, principal)
  const { limit, cursor } = readPage(context)
  const before = cursor === null ? null : readId(cursor)
  if (cursor !== null && before === null) throw invalidCursor()
  const found = await listLoggedMessages(sql, { ...key, before, limit: limit + 1 })
  const messages = found.slice(0, limit)
  const nextCursor = found.length > limit ? (messages.at(-1)?.messageId ?? null) : null
  return { message: LOGGED, data: { messages, nextCursor } }
}

function keyOf({ params }: RequestContext, { business }: Principal): { businessId: string; channel: MessageChannel } {
  const channel = MESSAGE_CHANNELS.find((name) => name === params['channel'])
  if (channel !== undefined) return { businessId: business.id, channel }
  throw new RequestError('not_found', { message: `There is no such channel: use ${MESSAGE_CHANNELS.join(', ')}.` })
}

function requireId(sent: string | undefined, notFound: () => RequestError): string | undefined {
  if (sent === undefined) return undefined
  const id = readId(sent)
  if (id === null) throw notFound()
  return id
}

export const senderNotFound = () => new RequestError('not_found', { message: 'There is no such sender.' })
const templateNotFound = () => new RequestError('not_found', { reason: faultOf('', 'no_template') })
