/** Reads messages of campaigns and calls, erases those to an address, and settles those whose outcome is unknown. */
import {
  MESSAGE_SOURCES,
  MESSAGE_STATES,
  listMessages,
  readMessage,
  renderAgain,
  settleMessage,
} from '../../../campaigns/read-messages.ts'
import { eraseAddress } from '../../../calls/erase-address.ts'
import { NO_CALL, readCallParts } from '../../../calls/read-call-parts.ts'
import { resolveContact } from '../../../contacts/read/resolve-contact.ts'
import { RequestError } from '../../../errors.ts'
import { faultOf } from '../../../rules/faults.ts'
import type { Principal } from '../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../app-context.ts'
import { compileCheck, invalidRequest, requireBody } from '../../http/check-body.ts'
import { BODY_LIMITS } from '../../http/read-body.ts'
import { readId } from '../../../rules/read-id.ts'
import { invalidCursor, queryOf, readPage } from '../../http/read-page.ts'
import { receiveBody } from '../../http/receive-body.ts'
import { SettleSchema } from './schemas.ts'

export const LISTED = 'The messages.'
export const READ = 'The message.'
export const SETTLED = 'The message is settled.'
export const ERASED = 'The messages are erased.'

const checkSettle = compileCheck(SettleSchema)

export async function getMessages(app: AppContext, context: RequestContext, { business }: Principal): Promise<Reply> {
  const query = queryOf(context)
  const contactId = readQueryId(query, 'contactId')
  const state = query.get('state')
  const wanted = MESSAGE_STATES.find((one) => one === state) ?? null
  if (state !== null && wanted === null)
    throw invalidRequest([faultOf('state', 'one_of', { choices: MESSAGE_STATES.join(', ') })])
  const source = query.get('source')
  const wantedSource = MESSAGE_SOURCES.find((one) => one === source) ?? null
  if (source !== null && wantedSource === null)
    throw invalidRequest([faultOf('source', 'one_of', { choices: MESSAGE_SOURCES.join(', ') })])
  const { limit, cursor } = readPage(context)
  const before = cursor === null ? null : readId(cursor)
  if (cursor !== null && before === null) throw invalidCursor()
  const found = await listMessages(app.sql, {
    businessId: business.id,
    contactId: contactId && ((await resolveContact(app.sql, business.id, contactId))?.contactId ?? contactId),
    campaignId: readQueryId(query, 'campaignId'),
    source: wantedSource,
    templateId: readQueryId(query, 'template'),
    state: wanted,
    before,
    limit: limit + 1,
  })
  const messages = found.slice(0, limit)
  const nextCursor = found.length > limit ? (messages.at(-1)?.messageId ?? null) : null
  return { message: LISTED, data: { messages, nextCursor } }
}

export async function getMessage(app: AppContext, context: RequestContext, { business }: Principal): Promise<Reply> {
  const messageId = requireMessageId(context)
  const message = await readMessage(app.sql, business.id, messageId)
  if (message === null) throw messageNotFound()
  const rendering = await renderAgain(app.sql, app.renderer, business.id, messageId)
  const call = message.source === 'call' ? await readCallParts(app.sql, business.id, messageId) : NO_CALL
  return { message: READ, data: { message: { ...message, ...call, rendering } } }
}

export async function deleteMessages(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const { business, actor } = principal
  const address = queryOf(context).get('address')
  if (address === null) throw invalidRequest([faultOf('address', 'required')])
  const change = { businessId: business.id, actor, country: business.country }
  const erased = await eraseAddress(app.sql, change, address)
  if (erased === null) throw invalidRequest([faultOf('address', 'email_or_phone')])
  return { message: ERASED, data: erased }
}

export async function postSettle(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const { business, actor } = principal
  const messageId = requireMessageId(context)
  const { body } = await receiveBody(app, context, business, BODY_LIMITS.single)
  const { state } = requireBody(checkSettle(body))
  const change = { businessId: business.id, actor }
  const settled = await settleMessage(app.sql, change, { messageId, state, now: app.now() })
  switch (settled.kind) {
    case 'not_found':
      throw messageNotFound()
    case 'not_unknown':
      throw new RequestError('locked', { reason: faultOf('', 'message_is_settled', { state: settled.state }) })
    case 'settled':
      return { message: SETTLED, data: { message: settled.message } }
  }
}

function readQueryId(query: URLSearchParams, name: string): string | null {
  const text = query.get(name)
  if (text === null) return null
  const id = readId(text)
  if (id === null) throw invalidRequest([faultOf(name, 'id')])
  return id
}

export const messageNotFound = () => new RequestError('not_found', { reason: faultOf('', 'no_message') })

export function requireMessageId({ params }: RequestContext): string {
  const id = readId(params['messageId'])
  if (id === null) throw messageNotFound()
  return id
}
