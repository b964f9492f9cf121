/** Edits, consent and erasure. All travel through the business's live partition, like everything that changes a person. */
import { listCustomFields } from '../../../contacts/list-custom-fields.ts'
import { readContact } from '../../../contacts/read-contact.ts'
import { scrubOutbox } from '../../../outbox/scrub-outbox.ts'
import { traitFaults } from '../../../rules/identity/decide-edit.ts'
import type { EditFact } from '../../../rules/events/facts.ts'
import type { Fault } from '../../../rules/events/fault.ts'
import { readEngagement } from '../../../timeline/read-engagement.ts'
import { admitManager } from '../../access/authenticate-read.ts'
import { compileCheck, invalidRequest, requireBody, uncleanIssues } from '../../http/check-body.ts'
import { BODY_ERRORS, type Call, type Door, KEYED_ERRORS, type Reply, type Route } from '../../app-context.ts'
import { CONTACT_EXAMPLE } from '../../openapi/examples.ts'
import { BODY_LIMITS } from '../../http/read-body.ts'
import { noContact } from './contact-not-found.ts'
import { readEdit } from './read-edit.ts'
import { readId } from '../../http/read-id.ts'
import { receiveBody } from '../../http/receive-body.ts'
import { EditedData, ErasedData, QueuedData, SubscriptionsData } from '../reply-schemas.ts'
import { EditSchema, SubscriptionsSchema } from '../schemas.ts'
import { submitRequest, withWarnings } from '../submit-request.ts'
import { takeTurn } from '../../access/concurrency-limit.ts'

const checkSubscriptions = compileCheck(SubscriptionsSchema)

async function putSubscriptions(door: Door, call: Call): Promise<Reply> {
  const business = await admitManager(door, call)
  const { id: businessId } = business
  const contactId = requireId(call)
  const { body } = await receiveBody(door, call, business, BODY_LIMITS.single)
  const { method, ...channels } = requireBody(checkSubscriptions(body))
  const unclean = uncleanIssues({ method })
  if (unclean.length > 0) throw invalidRequest(unclean)
  if (Object.keys(channels).length === 0) throw invalidRequest([NO_CHANNEL])
  const { receivedAt, requestId } = call
  const request = { kind: 'subscribe', businessId, receivedAt, requestId, contactId, channels, method } as const
  await takeTurn(door.turns.change, call, businessId)
  const answer = await submitRequest(door, call, request, { keyed: true })
  if (answer === null) return QUEUED
  if (answer.contactId === null) throw noContact()
  const { contactId: survivor, subscriptions } = answer
  return { message: RECORDED, data: { contactId: survivor, subscriptions } }
}

/** A trait that its field does not take is refused here, and by the worker, which knows of fields made meanwhile. */
async function patchContact(door: Door, call: Call): Promise<Reply> {
  const business = await admitManager(door, call)
  const { id: businessId, currency } = business
  const named = requireId(call)
  const { body } = await receiveBody(door, call, business, BODY_LIMITS.single)
  const fact = readEdit(body)
  if (Object.keys(fact.traits).length > 0) refuse(await wrongTraits(door, businessId, fact.traits))
  const { receivedAt, requestId } = call
  const request = { kind: 'edit', businessId, receivedAt, requestId, contactId: named, fact } as const
  await takeTurn(door.turns.change, call, businessId)
  const answer = await submitRequest(door, call, request, { keyed: true })
  if (answer === null) return QUEUED
  refuse(answer.issues ?? [])
  const contactId = answer.contactId
  const contact = contactId && (await readContact(door.sql, { businessId, contactId, currency }))
  if (!contact) throw noContact()
  const engagement = await readEngagement(door.clickhouse, businessId, contact)
  return { message: EDITED, data: { contact: { ...contact, engagement }, ...withWarnings(answer.warnings) } }
}

async function wrongTraits({ sql }: Door, businessId: string, traits: EditFact['traits']) {
  const fields = await listCustomFields(sql, businessId)
  return traitFaults(new Map(fields.map(({ key, type }) => [key, type])), traits)
}

function refuse(issues: Fault[]): void {
  if (issues.length > 0) throw invalidRequest(issues)
}

const NO_CHANNEL = { path: '', message: 'at least one of email, sms, whatsapp and push is required' }

/** The outbox is scrubbed before the answer: when it says 200, Postgres holds nothing of the person. */
async function eraseContact(door: Door, call: Call): Promise<Reply> {
  const { id: businessId } = await admitManager(door, call)
  const { receivedAt, requestId } = call
  const request = { kind: 'erase', businessId, receivedAt, requestId, contactId: requireId(call) } as const
  await takeTurn(door.turns.change, call, businessId)
  const answer = await submitRequest(door, call, request, { keyed: true })
  if (answer === null) return QUEUED
  if (answer.contactId === null) throw noContact()
  await scrubOutbox(door.sql, businessId, answer.erasedIds ?? [answer.contactId])
  return { message: ERASED, data: { contactId: answer.contactId } }
}

const EDITED = 'The contact is changed.'
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
    method: 'PATCH',
    path: '/api/contacts/:contactId',
    answer: patchContact,
    operation: {
      summary: 'Edit a contact',
      description:
        'Sets what it names, and nothing else; null clears. A trait counts as of now. All of it is stored or, with a 400, nothing. ' +
        'A merged id edits its survivor.',
      tag: 'Contacts',
      key: 'secret',
      body: {
        schema: EditSchema,
        example: {
          profile: { lastName: 'King' },
          traits: { plan: 'pro', seats: null },
          addTags: ['vip'],
          removeTags: ['trial'],
        },
      },
      replies: {
        200: {
          message: EDITED,
          description: 'The contact as it is now.',
          data: EditedData,
          example: { contact: CONTACT_EXAMPLE },
        },
        202: queuedReply,
      },
      errors: [...BODY_ERRORS, 'not_found', 'outcome_unknown'],
    },
  },
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
