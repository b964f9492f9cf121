import { Type } from '@sinclair/typebox'
import { closed, uuid, warningList, interpretation, QueuedTrackData } from '../reply-fields.ts'
import { amountToNumber } from '../../../rules/events/money.ts'
import type { EventFact } from '../../../rules/events/facts.ts'
import type { TrackAnswer } from '../../../stream/entry.ts'
import { requireSecretKey } from '../../access/authenticate.ts'
import { chargeWrite } from '../../access/charge.ts'
import { type RequestContext, type AppContext, type Reply, type Route, WRITE_ERRORS } from '../../app-context.ts'
import { BODY_LIMITS } from '../../http/read-body.ts'
import { EventSchema, readEvent } from './read-event.ts'
import { receiveBody } from '../../http/receive-body.ts'
import { toRequestError } from '../../http/rejection.ts'
import { EffectsSchema, nameEffects, wantsEffects } from './effects.ts'
import { submitRequest, withWarnings } from '../submit-request.ts'

async function track(app: AppContext, context: RequestContext): Promise<Reply> {
  const { business: caller } = await requireSecretKey(app, context)
  await chargeWrite(app, context, caller)
  const { business, body } = await receiveBody(app, context, caller, BODY_LIMITS.single)
  const read = readEvent(body, business, context.receivedAt)
  if ('code' in read) throw toRequestError(read)
  const { fact } = read
  const { receivedAt, requestId } = context
  const request = {
    kind: 'track',
    businessId: business.id,
    receivedAt,
    requestId,
    keyed: true,
    source: 'live',
    fact,
    ...(wantsEffects(context, true) && { effects: true }),
  } as const
  const answer = await submitRequest(app, context, request, { keyed: true })
  if (answer === null) return queued(fact)
  return recorded(fact, answer, answer.effects ? await nameEffects(app, context, business.id, answer.effects) : {})
}

const RECORDED = 'The event is recorded.'
const KEPT = 'The event is stored and will be recorded once.'

function recorded({ event }: EventFact, answer: TrackAnswer, effects: object): Reply {
  const { contactId, isNew, deduped, interpreted, warnings } = answer
  const message = deduped ? 'The event had been recorded before.' : RECORDED
  return { message, data: { contactId, event, isNew, deduped, interpreted, ...withWarnings(warnings), ...effects } }
}

function queued({ event, meaning }: EventFact): Reply {
  const interpreted = { type: meaning.type, countedRevenue: amountToNumber(meaning.counted) }
  return {
    status: 202,
    message: KEPT,
    data: { queued: true, event, interpreted },
  }
}

const interpreted = { type: 'purchase', countedRevenue: 49.9 }

export const TrackData = Type.Object(
  {
    contactId: uuid,
    event: Type.String(),
    isNew: Type.Boolean(),
    deduped: Type.Boolean(),
    interpreted: interpretation,
    warnings: warningList,
    effects: EffectsSchema,
  },
  closed,
)

export const trackRoute: Route = {
  method: 'POST',
  path: '/api/sdk/track',
  answer: track,
  operation: {
    summary: 'Record one live event',
    description:
      'The event can start a campaign. Send `Prefer: respond-async` to get the answer before the event is applied, ' +
      'or `Prefer: effects` to get the segments and campaigns that it moves its contact in and out of.',
    tag: 'Events',
    key: 'secret',
    body: {
      schema: EventSchema,
      example: {
        event: 'invoice_paid',
        identity: { email: 'ada@example.com' },
        value: 49.9,
        idempotencyKey: 'order-9917',
      },
    },
    replies: {
      200: {
        message: RECORDED,
        description: 'Recorded durably, now or before (`deduped`).',
        data: TrackData,
        example: {
          contactId: '0198c5a0-7d1e-7c3b-9f59-0d7a4f1f6d11',
          event: 'invoice_paid',
          isNew: true,
          deduped: false,
          interpreted,
        },
      },
      202: {
        message: KEPT,
        description: 'Stored. It will be applied once, usually within seconds.',
        data: QueuedTrackData,
        example: { queued: true, event: 'invoice_paid', interpreted },
      },
    },
    errors: [...WRITE_ERRORS, 'identity_required', 'invalid_occurred_at', 'properties_too_large'],
  },
}
