/** Consent and erasure. Both travel through the business's live partition, like everything that changes a person. */
import { scrubOutbox } from '../../contacts/scrub-outbox.ts'
import { admitReader } from '../admit-reader.ts'
import { compileCheck, invalidRequest, requireBody, uncleanIssues } from '../check-body.ts'
import { BODY_ERRORS, type Call, type Door, KEYED_ERRORS, type Reply, type Route } from '../door.ts'
import { CONTACT_EXAMPLE } from '../examples.ts'
import { BODY_LIMITS } from '../read-body.ts'
import { noContact } from '../no-contact.ts'
import { readId } from '../read-id.ts'
import { receiveBody } from '../receive-body.ts'
import { ErasedData, QueuedData, SubscriptionsData } from '../reply-schemas.ts'
import { SubscriptionsSchema } from '../schemas.ts'
import { submitRequest } from '../submit-request.ts'

const checkSubscriptions = compileCheck(SubscriptionsSchema)

async function putSubscriptions(door: Door, call: Call): Promise<Reply> {
  const business = await admitReader(door, call)
  const { id: businessId } = business
  const contactId = requireId(call)
  const { body } = await receiveBody(door, call, business, BODY_LIMITS.single)
  const { method, ...channels } = requireBody(checkSubscriptions(body))
  const unclean = uncleanIssues({ method })
  if (unclean.length > 0) throw invalidRequest(unclean)
  if (Object.keys(channels).length === 0) throw invalidRequest([NO_CHANNEL])
  const { receivedAt, requestId } = call
  const request = { kind: 'subscribe', businessId, receivedAt, requestId, contactId, channels, method } as const
  const answer = await submitRequest(door, call, request, { keyed: true })
  if (answer === null) return QUEUED
  if (answer.contactId === null) throw noContact()
  const { contactId: survivor, subscriptions } = answer
  return { message: RECORDED, data: { contactId: survivor, subscriptions } }
}

const NO_CHANNEL = { path: '', message: 'at least one of email, sms, whatsapp and push is required' }

/** The outbox is scrubbed before the answer: when it says 200, Postgres holds nothing of the person. */
async function eraseContact(door: Door, call: Call): Promise<Reply> {
  const { id: businessId } = await admitReader(door, call)
  const { receivedAt, requestId } = call
  const request = { kind: 'erase', businessId, receivedAt, requestId, contactId: requireId(call) } as const
  const answer = await submitRequest(door, call, request, { keyed: true })
  if (answer === null) return QUEUED
  if (answer.contactId === null) throw noContact()
  await scrubOutbox(door.sql, businessId, answer.erasedIds ?? [answer.contactId])
  return { message: ERASED, data: { contactId: answer.contactId } }
}

const RECORDED = 'The choice is recorded.'
const ERASED = 'The person is erased.'
const KEPT = 'The request is kept and will be applied.'
const QUEUED: Reply = { status: 202, message: KEPT, data: { queued: true } }
const queuedReply = {
  message: KEPT,
  description: 'Kept, and applied in a moment.',
  data: QueuedData,
  example: { queued: true },
}

function requireId(call: Call): string {
  const id = readId(call.params['contactId'])
  if (id === null) throw noContact()
  return id
}

const { contactId, subscriptions } = CONTACT_EXAMPLE

export const manageContactRoutes: readonly Route[] = [
  {
    method: 'PUT',
    path: '/api/contacts/:contactId/subscriptions',
    answer: putSubscriptions,
    operation: {
      summary: 'Record an opt-in or opt-out',
      description: 'The last one counts. Of two contacts that become one, an opt-out wins.',
      tag: 'Contacts',
      key: 'secret',
      body: { schema: SubscriptionsSchema, example: { email: true, method: 'signup form' } },
      replies: {
        200: {
          message: RECORDED,
          description: 'All channels as they are now.',
          data: SubscriptionsData,
          example: { contactId, subscriptions },
        },
        202: queuedReply,
      },
      errors: [...BODY_ERRORS, 'not_found', 'outcome_unknown'],
    },
  },
  {
    method: 'DELETE',
    path: '/api/contacts/:contactId',
    answer: eraseContact,
    operation: {
      summary: 'Erase a person',
      description:
        'Under its id and every id merged into it. Idempotency keys stay known: a repeat of an erased event applies nothing.',
      tag: 'Contacts',
      key: 'secret',
      replies: {
        200: {
          message: ERASED,
          description: 'Erased from Postgres; ClickHouse follows.',
          data: ErasedData,
          example: { contactId },
        },
        202: queuedReply,
      },
      errors: [...KEYED_ERRORS, 'not_found', 'outcome_unknown'],
    },
  },
]
