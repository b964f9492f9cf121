import { RequestError } from '../../errors.ts'
import type { IdentifyFact } from '../../rules/facts.ts'
import type { IdentifyAnswer } from '../../stream/entry.ts'
import { findCaller, requireUsable } from '../authenticate.ts'
import { chargeAddress, chargeUnkeyed, chargeWrite } from '../charge.ts'
import { invalidRequest, isRecord } from '../check-body.ts'
import { type Call, type Door, type Reply, type Route, WRITE_ERRORS } from '../door.ts'
import type { Business } from '../find-business.ts'
import { BODY_LIMITS, readJson } from '../read-body.ts'
import { readId } from '../read-id.ts'
import { readIdentify } from '../read-identify.ts'
import { toRequestError } from '../refusal.ts'
import { IdentifyData, QueuedData } from '../reply-schemas.ts'
import { IdentifySchema } from '../schemas.ts'
import { submitRequest, withWarnings } from '../submit-request.ts'

/** What is known once the caller may speak: for whom, with how much trust, and what was said. */
interface Admitted {
  business: Business
  keyed: boolean
  body: unknown
}

async function identify(door: Door, call: Call): Promise<Reply> {
  const caller = await findCaller(door, call)
  const { business, keyed, body } =
    caller?.kind === 'secret'
      ? await admitServer(door, call, caller.business)
      : await admitPage(door, call, caller?.business)
  const read = readIdentify(body, business, keyed)
  if ('code' in read) throw toRequestError(read)
  return submit(door, call, business, keyed, read.fact)
}

async function admitServer(door: Door, call: Call, business: Business): Promise<Admitted> {
  await chargeWrite(door, call, requireUsable(business))
  return { business, keyed: true, body: await readJson(door, call, BODY_LIMITS.single) }
}

/** A page names its business by a publishable key or in the body. */
async function admitPage(door: Door, call: Call, keyHolder: Business | undefined): Promise<Admitted> {
  if (keyHolder !== undefined) requireUsable(keyHolder)
  await chargeAddress(door, call)
  const body = await readJson(door, call, BODY_LIMITS.single)
  const business = keyHolder ?? requireUsable(await findNamedBusiness(door, call, body))
  refuseForeignOrigin(call, business)
  await chargeUnkeyed(door, call, business)
  return { business, keyed: false, body }
}

async function findNamedBusiness(door: Door, call: Call, body: unknown): Promise<Business> {
  const named = isRecord(body) ? body['businessId'] : undefined
  if (typeof named !== 'string' || named.trim() === '') {
    const message = 'businessId is required without an API key: a string that names the business'
    throw invalidRequest([{ path: 'businessId', message }])
  }
  const id = readId(named.trim())
  const business = id === null ? null : await door.businesses(id, call.address)
  if (business === null) throw new RequestError('business_not_found')
  return business
}

function refuseForeignOrigin(call: Call, { origins }: Business): void {
  const origin = call.request.headers.get('origin')?.toLowerCase()
  const allowed = origins.length === 0 || (origin !== undefined && origins.includes(origin))
  if (!allowed) throw new RequestError('origin_not_allowed')
}

async function submit(door: Door, call: Call, business: Business, keyed: boolean, fact: IdentifyFact): Promise<Reply> {
  const { receivedAt, requestId } = call
  const request = { kind: 'identify', businessId: business.id, receivedAt, requestId, keyed, fact } as const
  const answer = await submitRequest(door, call, request, { keyed })
  return answer === null ? QUEUED : identified(answer)
}

const QUEUED: Reply = {
  status: 202,
  message: 'The identification is kept and will be applied once.',
  data: { queued: true },
}

function identified({ contactId, isNew, linkedVisitor, subscriptions, warnings }: IdentifyAnswer): Reply {
  const data = { contactId, isNew, linkedVisitor, subscriptions, ...withWarnings(warnings) }
  return { message: isNew ? 'The contact was created.' : 'The contact was found.', data }
}

/** Pages may ask from anywhere, with a JSON body, never with a key in a header of their own and never with credentials. */
function preflight(): Promise<Response> {
  const headers = {
    'Access-Control-Allow-Methods': 'POST',
    'Access-Control-Allow-Headers': 'content-type',
    'Access-Control-Max-Age': '86400',
  }
  return Promise.resolve(new Response(null, { status: 204, headers }))
}

export const identifyPreflightRoute: Route = {
  method: 'OPTIONS',
  path: '/api/sdk/identify',
  answer: preflight,
  crossOrigin: true,
  operation: null,
}

export const identifyRoute: Route = {
  method: 'POST',
  path: '/api/sdk/identify',
  answer: identify,
  crossOrigin: true,
  operation: {
    summary: 'Find or create a contact and fill in what is known',
    description:
      'Records no event; safe on every login. Without a secret key the business is named by `businessId` or a publishable ' +
      'key, and traits are ignored.',
    tag: 'Contacts',
    key: 'optional',
    body: {
      schema: IdentifySchema,
      example: { identity: { email: 'ada@example.com' }, profile: { name: 'Ada Lovelace' }, method: 'signup' },
    },
    replies: {
      200: {
        description: 'The contact.',
        data: IdentifyData,
        example: {
          contactId: '0198c5a0-7d1e-7c3b-9f59-0d7a4f1f6d11',
          isNew: true,
          linkedVisitor: false,
          subscriptions: { email: false, sms: false, whatsapp: false, push: false },
        },
      },
      202: { description: 'Kept, and applied once.', data: QueuedData, example: { queued: true } },
    },
    errors: [...WRITE_ERRORS, 'identity_required', 'origin_not_allowed'],
  },
}
