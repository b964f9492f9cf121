/** Deliveries of conversions to destinations, and their retries. */
import { type Static, Type } from '@sinclair/typebox'
import {
  DELIVERY_STATES,
  type Delivery,
  type DeliveryFilter,
  pageDeliveries,
  readAttempts,
  retryDeliveries,
} from '../../../../deliveries/handle-deliveries.ts'
import { MAX_ATTEMPTS_KEPT } from '../../../../deliveries/record-delivery.ts'
import { RequestError } from '../../../../errors.ts'
import { faultOf } from '../../../../rules/faults.ts'
import { type DashboardRoute, businessRoute } from '../../../access/authenticate-session.ts'
import type { Principal } from '../../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../../app-context.ts'
import { compileCheck, invalidRequest, requireBody } from '../../../http/check-body.ts'
import { BODY_LIMITS, readJson } from '../../../http/read-body.ts'
import { readId } from '../../../../rules/read-id.ts'
import { PAGE_QUERY, invalidCursor, queryOf, readPage } from '../../../http/read-page.ts'
import { closed, count, dateTime, nextCursor, oneOf, orNull, uuid } from '../../reply-fields.ts'
import { MEMBER_BODY_ERRORS, MEMBER_ERRORS } from '../people/session.ts'

const DELIVERIES = 'The deliveries.'
const ATTEMPTS = 'The attempts.'
const RETRIED = 'The deliveries are due now.'

const DeliveriesData = Type.Object(
  {
    deliveries: Type.Array(
      Type.Object(
        {
          id: uuid,
          destinationId: uuid,
          destinationName: Type.String(),
          contactId: orNull(Type.String({ description: 'Null for who may not read contacts.' })),
          event: Type.String(),
          type: Type.String(),
          state: oneOf(DELIVERY_STATES),
          attempts: count,
          lastReason: orNull(Type.String({ description: 'Why the last attempt failed.' })),
          createdAt: dateTime,
          nextAttemptAt: orNull(dateTime),
          settledAt: orNull(dateTime),
        },
        closed,
      ),
    ),
    nextCursor,
  },
  closed,
)

async function getDeliveries(app: AppContext, context: RequestContext, { business, can }: Principal): Promise<Reply> {
  const { limit, cursor } = readPage(context)
  const before = cursor === null ? null : readId(cursor)
  if (cursor !== null && before === null) throw invalidCursor()
  const filter = { businessId: business.id, ...readFilter(queryOf(context)) }
  const found = await pageDeliveries(app.sql, filter, { before, limit: limit + 1 })
  const shown = found.slice(0, limit)
  const data: Static<typeof DeliveriesData> = {
    deliveries: shown.map((one) => show(one, can('contacts:read'))),
    nextCursor: found.length > limit ? (shown.at(-1)?.id ?? null) : null,
  }
  return { message: DELIVERIES, data }
}

function readFilter(query: URLSearchParams): Omit<DeliveryFilter, 'businessId'> {
  const [destination, state] = [query.get('destinationId'), query.get('state')]
  const destinationId = destination === null ? null : readId(destination)
  if (destination !== null && destinationId === null) throw invalidRequest([faultOf('destinationId', 'destination_id')])
  const wanted = DELIVERY_STATES.find((known) => known === state) ?? null
  if (state !== null && wanted === null)
    throw invalidRequest([faultOf('state', 'one_of', { choices: DELIVERY_STATES.join(', ') })])
  return { destinationId, state: wanted }
}

function show(delivery: Delivery, showsContact: boolean): Static<typeof DeliveriesData>['deliveries'][number] {
  const { id, destinationId, destinationName, contactId, event, type, state, attempts, lastError } = delivery
  const { createdAt, nextAttemptAt, settledAt } = delivery
  return {
    id,
    destinationId,
    destinationName,
    contactId: showsContact ? contactId : null,
    event,
    type,
    state,
    attempts,
    lastReason: lastError,
    createdAt: createdAt.toISOString(),
    nextAttemptAt: nextAttemptAt?.toISOString() ?? null,
    settledAt: settledAt?.toISOString() ?? null,
  }
}

const AttemptsData = Type.Object(
  {
    attempts: Type.Array(
      Type.Object(
        {
          at: dateTime,
          outcome: oneOf(['sent', 'retry', 'unsent', 'dead']),
          reason: orNull(Type.String({ description: 'Why it failed.' })),
        },
        closed,
      ),
    ),
  },
  closed,
)

async function getAttempts(app: AppContext, context: RequestContext, { business }: Principal): Promise<Reply> {
  const id = readId(context.params['deliveryId'])
  const found = id === null ? null : await readAttempts(app.sql, business.id, id)
  if (found === null) throw new RequestError('not_found')
  const attempts = found.map((one) => ({ ...one, at: new Date(one.at).toISOString() }))
  return { message: ATTEMPTS, data: { attempts: attempts.toReversed() } }
}

const RetrySchema = Type.Object({
  deliveryId: Type.Optional(Type.String({ description: 'One that was not sent. Left out: all that were given up.' })),
  destinationId: Type.Optional(Type.String({ description: 'Only those of this destination.' })),
  all: Type.Optional(Type.Boolean({ description: 'Must be true when deliveryId is left out.' })),
})
const checkRetry = compileCheck(RetrySchema)

async function postRetry(app: AppContext, context: RequestContext, { business, actor }: Principal): Promise<Reply> {
  const sent = requireBody(checkRetry(await readJson(app, context, BODY_LIMITS.single)))
  const businessId = business.id
  const destinationId = sent.destinationId === undefined ? null : readId(sent.destinationId)
  if (sent.destinationId !== undefined && destinationId === null)
    throw invalidRequest([faultOf('destinationId', 'destination_id')])
  if (sent.deliveryId === undefined) {
    if (sent.all !== true)
      throw invalidRequest([{ ...faultOf('', 'at_least_one', { fields: 'deliveryId, all' }), path: 'deliveryId' }])
    const change = { actor, target: destinationId, details: { all: true } }
    const retried = await retryDeliveries(app.sql, change, { businessId, destinationId, id: null })
    return { message: RETRIED, data: { retried } }
  }
  const id = readId(sent.deliveryId)
  if (id === null) throw deliveryNotFound()
  const retried = await retryDeliveries(app.sql, { actor, target: id }, { businessId, destinationId, id })
  if (retried === 0) throw deliveryNotFound()
  return { message: RETRIED, data: { retried } }
}

const deliveryNotFound = () => new RequestError('not_found', { reason: faultOf('', 'delivery_gone') })

export const deliveryRoutes: readonly DashboardRoute[] = [
  businessRoute({
    method: 'GET',
    path: '/deliveries',
    permission: 'lists:read',
    handler: getDeliveries,
    operation: {
      summary: 'List the conversions that are queued, were sent or were given up',
      tag: 'Settings',
      key: 'session',
      query: {
        ...PAGE_QUERY,
        destinationId: { schema: { type: 'string' }, description: 'Only those of this destination.' },
        state: { schema: { type: 'string', enum: [...DELIVERY_STATES] }, description: 'Only this state.' },
      },
      replies: { 200: { message: DELIVERIES, description: 'Newest first.', data: DeliveriesData } },
      errors: [...MEMBER_ERRORS, 'invalid_request'],
    },
  }),
  businessRoute({
    method: 'GET',
    path: '/deliveries/:deliveryId/attempts',
    permission: 'lists:read',
    handler: getAttempts,
    operation: {
      summary: 'List the attempts to send a conversion',
      description: `The newest ${MAX_ATTEMPTS_KEPT}. \`unsent\`: nothing was sent, and the attempt does not count.`,
      tag: 'Settings',
      key: 'session',
      replies: { 200: { message: ATTEMPTS, description: 'Newest first.', data: AttemptsData } },
      errors: [...MEMBER_ERRORS, 'not_found'],
    },
  }),
  businessRoute({
    method: 'POST',
    path: '/deliveries/retry',
    permission: 'destinations:write',
    handler: postRetry,
    operation: {
      summary: 'Make a delivery due now, or all that were given up',
      description: 'A delivery that was sent is not sent again.',
      tag: 'Settings',
      key: 'session',
      body: { schema: RetrySchema },
      replies: {
        200: { message: RETRIED, description: 'How many.', data: Type.Object({ retried: count }, closed) },
      },
      errors: [...MEMBER_BODY_ERRORS, 'not_found'],
    },
  }),
]
