import { Type } from '@sinclair/typebox'
import { closed, uuid, warningList, subscriptionStates, QueuedData } from '../reply-fields.ts'
import type { IdentifyFact } from '../../../rules/events/facts.ts'
import type { IdentifyAnswer } from '../../../stream/entry.ts'
import { findCaller, requireUsable } from '../../access/authenticate.ts'
import { authenticateBrowser } from '../../access/authenticate-browser.ts'
import { chargeWrite } from '../../access/charge.ts'
import { type RequestContext, type AppContext, type Reply, type Route, WRITE_ERRORS } from '../../app-context.ts'
import type { Business } from '../../../businesses/find-business.ts'
import { BODY_LIMITS } from '../../http/read-body.ts'
import { readIdentify } from './read-identify.ts'
import { type ReceivedBody, receiveBody } from '../../http/receive-body.ts'
import { toRequestError } from '../../http/rejection.ts'
import { IdentifySchema } from './identify-schema.ts'
import { EffectsSchema, nameEffects, wantsEffects } from './effects.ts'
import { submitRequest, withWarnings } from '../submit-request.ts'

/** The body of an accepted call, its business, and whether a secret key was sent. */
interface AuthenticatedBody extends ReceivedBody {
  keyed: boolean
}

async function identify(app: AppContext, context: RequestContext): Promise<Reply> {
  const caller = await findCaller(app, context)
  const { business, keyed, body } =
    caller?.kind === 'secret'
      ? await receiveFromServer(app, context, caller.business)
      : {
          ...(await authenticateBrowser(app, context, caller?.business, {
            endpoint: 'identify',
            limit: BODY_LIMITS.single,
          })),
          keyed: false,
        }
  const read = readIdentify(body, { business, keyed, now: context.receivedAt })
  if ('code' in read) throw toRequestError(read)
  return submit(app, context, business, keyed, read.fact)
}

async function receiveFromServer(
  app: AppContext,
  context: RequestContext,
  business: Business,
): Promise<AuthenticatedBody> {
  await chargeWrite(app, context, requireUsable(business))
  return { ...(await receiveBody(app, context, business, BODY_LIMITS.single)), keyed: true }
}

async function submit(
  app: AppContext,
  context: RequestContext,
  business: Business,
  keyed: boolean,
  fact: IdentifyFact,
): Promise<Reply> {
  const { receivedAt, requestId } = context
  const request = {
    kind: 'identify',
    businessId: business.id,
    receivedAt,
    requestId,
    keyed,
    fact,
    ...(keyed && { makesPrimary: true }),
    ...(wantsEffects(context, keyed) && { effects: true }),
  } as const
  const answer = await submitRequest(app, context, request, { keyed })
  if (answer === null) return QUEUED
  return identified(answer, answer.effects ? await nameEffects(app, context, business.id, answer.effects) : {})
}

const CREATED = 'The contact was created.'
const KEPT = 'The identification is stored and will be applied once.'
const QUEUED: Reply = { status: 202, message: KEPT, data: { queued: true } }

function identified(answer: IdentifyAnswer, effects: object): Reply {
  const { contactId, isNew, linkedVisitor, subscriptions, warnings } = answer
  const data = { contactId, isNew, linkedVisitor, subscriptions, ...withWarnings(warnings), ...effects }
  return { message: isNew ? CREATED : 'The contact was found.', data }
}

export const IdentifyData = Type.Object(
  {
    contactId: uuid,
    isNew: Type.Boolean(),
    linkedVisitor: Type.Boolean(),
    subscriptions: subscriptionStates,
    warnings: warningList,
    effects: EffectsSchema,
  },
  closed,
)

export const identifyRoute: Route = {
  method: 'POST',
  path: '/api/sdk/identify',
  answer: identify,
  crossOrigin: true,
  operation: {
    summary: 'Find or create a contact and complete its profile',
    description:
      'Records no event. You can call it on every login. Without a secret key, name the business by `businessId` or a publishable ' +
      'key; `traits`, `tags` and `value` are then ignored, with a warning each. Such a call merges no contacts, adds no second ' +
      'value of a kind, and adds no `platformCustomerId` to a contact that a call with a secret key has used; you get a warning for each ' +
      'field that is not added. What it adds is unproven until a call with a secret key sends it too: unproven values come after ' +
      'proven ones, neither cause nor prevent a merge, and are removed when a call with a secret key gives them to another contact. Names ' +
      'have at most 100 characters and contain no address. If the business has `pageIdentify` `confirmed`, such a call adds no identity to ' +
      'a contact that a call with a secret key has used, and a call with a secret key replaces profile values that it filled. A `visitorId` that ' +
      'over 1,000 contacts were identified with links to no further contact; you get a warning.',
    tag: 'Contacts',
    key: 'optional',
    body: {
      schema: IdentifySchema,
      example: { identity: { email: 'ada@example.com' }, profile: { name: 'Ada Lovelace' }, method: 'signup' },
    },
    replies: {
      200: {
        message: CREATED,
        description: 'The contact.',
        data: IdentifyData,
        example: {
          contactId: '0198c5a0-7d1e-7c3b-9f59-0d7a4f1f6d11',
          isNew: true,
          linkedVisitor: false,
          subscriptions: { email: false, sms: false, whatsapp: false, push: false },
        },
      },
      202: {
        message: KEPT,
        description: 'Stored. It will be applied once.',
        data: QueuedData,
        example: { queued: true },
      },
    },
    errors: [...WRITE_ERRORS, 'identity_required', 'invalid_occurred_at', 'origin_not_allowed'],
  },
}
