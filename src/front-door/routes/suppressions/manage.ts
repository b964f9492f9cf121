/** Adds, lists and lifts suppressions. */
import { RequestError } from '../../../errors.ts'
import { liftSuppression, liftSuppressions } from '../../../messages/suppressions/lift.ts'
import { listSuppressions } from '../../../messages/suppressions/list-suppressions.ts'
import {
  MAX_SUPPRESSIONS,
  type NewSuppression,
  type Suppressed,
  addSuppressions,
} from '../../../messages/suppressions/suppress.ts'
import { faultOf } from '../../../rules/faults.ts'
import { findAddresses, readListed } from '../../../rules/messages/listed-address.ts'
import {
  ADDRESS_CHANNELS,
  type AddressChannel,
  SUPPRESSION_REASONS,
  type SuppressionReason,
} from '../../../rules/messages/suppression.ts'
import { acquireSlot } from '../../access/concurrency-limit.ts'
import type { Principal } from '../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../app-context.ts'
import { compileCheck, invalidRequest, requireBody } from '../../http/check-body.ts'
import { BODY_LIMITS } from '../../http/read-body.ts'
import { readId } from '../../../rules/read-id.ts'
import { invalidCursor, queryOf, readPage } from '../../http/read-page.ts'
import { receiveBody } from '../../http/receive-body.ts'
import { type Refusal, listRefused, refuse } from '../../http/refused-item.ts'
import { describeFailures } from '../sdk/batch-items.ts'
import { readInstants } from '../segments/read-instants.ts'
import { SuppressionFrameSchema, SuppressionItemSchema } from './schemas.ts'

export const LISTED = 'The suppressions.'
export const ADDED = 'The addresses are suppressed.'
export const LIFTED = 'The suppression is lifted.'
export const LIFTED_MANY = 'The suppressions are lifted.'

const checkFrame = compileCheck(SuppressionFrameSchema)
const checkItem = compileCheck(SuppressionItemSchema)

export async function getSuppressions(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const { id: businessId, country } = principal.business
  const { limit, cursor } = readPage(context)
  const before = cursor === null ? null : readId(cursor)
  if (cursor !== null && before === null) throw invalidCursor()
  const query = queryOf(context)
  const channel = readChannel(query)
  const filter = { channel, reason: readReason(query), addresses: readAddress(query, channel, country) }
  const found = await listSuppressions(app.sql, { businessId, before, limit: limit + 1 }, filter)
  const suppressions = found.slice(0, limit)
  const nextCursor = found.length > limit ? (suppressions.at(-1)?.suppressionId ?? null) : null
  return { message: LISTED, data: { suppressions, nextCursor } }
}

export async function postSuppressions(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const { business, actor } = principal
  const { body } = await receiveBody(app, context, business, BODY_LIMITS.single)
  const { suppressions: sent } = requireBody(checkFrame(body))
  const read = sent.map((item) => readItem(item, business.country))
  const items = read.flatMap((one, index) => ('items' in one ? one.items.map((item) => ({ index, item })) : []))
  const refused = read.flatMap((one, index) => ('error' in one ? [{ index, ...one }] : []))
  const by = { businessId: business.id, actor, now: context.receivedAt }
  await acquireChangeSlot(app, context, business.id)
  const outcomes = await addSuppressions(
    app.sql,
    by,
    items.map(({ item }) => item),
  )
  const indexesOf = (wanted: Suppressed) => [
    ...new Set(items.flatMap(({ index }, at) => (outcomes[at] === wanted ? [index] : []))),
  ]
  const full = indexesOf('full')
  const added = indexesOf('added').filter((index) => !full.includes(index))
  const failures = [...refused, ...full.map((index) => ({ index, ...FULL }))]
  return {
    message: describeFailures(ADDED, failures.length, sent.length),
    data: {
      received: sent.length,
      added: added.length,
      known: sent.length - added.length - failures.length,
      failed: failures.length,
      failures: listRefused(context, failures),
    },
  }
}

const FULL = refuse([faultOf('', 'suppressions_full', { max: MAX_SUPPRESSIONS })])

/** Reads one item, which can mean two addresses. Its errors never contain one. */
function readItem(sent: unknown, country: string | null): { items: NewSuppression[] } | Refusal {
  const checked = checkItem(sent)
  if ('issues' in checked) return refuse(checked.issues)
  const { channel, address, reason = 'manual' } = checked.body
  const read = readListed(channel, address, country)
  if (read.length === 0) return refuse([faultOf('address', channel === 'email' ? 'one_email' : 'phone')])
  return { items: read.map((one) => ({ ...one, reason })) }
}

export async function deleteSuppression(
  app: AppContext,
  context: RequestContext,
  { business, actor }: Principal,
): Promise<Reply> {
  const suppressionId = readId(context.params['suppressionId'])
  await acquireChangeSlot(app, context, business.id)
  const isLifted =
    suppressionId !== null && (await liftSuppression(app.sql, { businessId: business.id, actor }, suppressionId))
  if (!isLifted) throw new RequestError('not_found', { reason: faultOf('', 'no_suppression') })
  return { message: LIFTED, data: { suppressionId } }
}

export async function deleteSuppressions(
  app: AppContext,
  context: RequestContext,
  { business, actor }: Principal,
): Promise<Reply> {
  const query = queryOf(context)
  const reason = readReason(query)
  if (reason === null) throw invalidRequest([faultOf('reason', 'required')])
  const { from = null, to = null } = readInstants(query, ['from', 'to'])
  await acquireChangeSlot(app, context, business.id)
  const selection = { reason, channel: readChannel(query), from, to }
  const { lifted, hasMore } = await liftSuppressions(app.sql, { businessId: business.id, actor }, selection)
  return { message: LIFTED_MANY, data: { lifted, hasMore } }
}

/**
 * Changes of one business wait for each other in Postgres. The slots prevent them from holding all connections in the
 * meantime.
 */
const acquireChangeSlot = (app: AppContext, context: RequestContext, businessId: string): Promise<void> =>
  acquireSlot(app.slots.read, context, businessId)

const readChannel = (query: URLSearchParams): AddressChannel | null => readWord(query, 'channel', ADDRESS_CHANNELS)
const readReason = (query: URLSearchParams): SuppressionReason | null => readWord(query, 'reason', SUPPRESSION_REASONS)

function readWord<Word extends string>(query: URLSearchParams, name: string, words: readonly Word[]): Word | null {
  const sent = query.get(name)
  if (sent === null) return null
  const word = words.find((one) => one === sent)
  if (word === undefined) throw invalidRequest([faultOf(name, 'one_of', { choices: words.join(', ') })])
  return word
}

function readAddress(query: URLSearchParams, channel: AddressChannel | null, country: string | null) {
  const sent = query.get('address')
  if (sent === null) return null
  const read = findAddresses(sent, channel, country)
  if (read.length > 0) return read
  throw invalidRequest([faultOf('address', 'email_or_phone')])
}
