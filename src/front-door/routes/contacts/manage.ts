/** Edits, consent and erasure. All of them go through the business's live partition, like every change to a contact. */
import { type ContactRequest, changeContact } from '../../../contacts/change-contact.ts'
import { listCustomFields } from '../../../contacts/read/list-custom-fields.ts'
import { readContact } from '../../../contacts/read/read-contact.ts'
import { scrubOutbox } from '../../../outbox/scrub-outbox.ts'
import { traitFaults } from '../../../rules/identity/decide-edit.ts'
import type { EditFact, Subscriptions } from '../../../rules/events/facts.ts'
import { type Fault, faultOf } from '../../../rules/faults.ts'
import { readEngagement } from '../../../timeline/reading/read-engagement.ts'
import { type Principal, keyWrite } from '../../access/principal.ts'
import { compileCheck, invalidRequest, requireBody, uncleanIssues } from '../../http/check-body.ts'
import {
  BODY_ERRORS,
  type RequestContext,
  type AppContext,
  KEYED_ERRORS,
  type Reply,
  type Route,
} from '../../app-context.ts'
import { CONTACT_EXAMPLE } from '../../openapi/examples.ts'
import { BODY_LIMITS } from '../../http/read-body.ts'
import { contactNotFound } from './contact-not-found.ts'
import { readEdit } from './read-edit.ts'
import { readId } from '../../../rules/read-id.ts'
import { receiveBody } from '../../http/receive-body.ts'
import { EditedData, ErasedData, SubscriptionsData } from './reply-schemas.ts'
import { QueuedData } from '../reply-fields.ts'
import { CONFIRMATION_REQUESTED, requestConfirmation } from './request-confirmation.ts'
import { SubscriptionsSchema } from './subscriptions-schema.ts'
import { EditSchema } from './edit-schema.ts'
import { submitRequest, withWarnings } from '../submit-request.ts'
import { forgetRequests } from '../../../request-log/request-store.ts'
import { acquireSlot } from '../../access/concurrency-limit.ts'

const checkSubscriptions = compileCheck(SubscriptionsSchema)

export async function putSubscriptions(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const { business } = principal
  const contactId = requireId(context)
  const { body } = await receiveBody(app, context, business, BODY_LIMITS.single)
  const { method, email, ...others } = requireBody(checkSubscriptions(body))
  const channels = { ...others, ...(typeof email === 'boolean' && { email }) }
  const unclean = uncleanIssues({ method })
  if (unclean.length > 0) throw invalidRequest(unclean)
  if (email === 'pending') {
    const confirmation = await requestConfirmation(app, context, principal, { contactId, topics: [] })
    if (Object.keys(channels).length === 0) return { message: CONFIRMATION_REQUESTED, data: confirmation }
    const { data, ...reply } = await recordChoices(app, context, principal, { contactId, channels, method })
    return { ...reply, data: { ...confirmation, ...data } }
  }
  if (Object.keys(channels).length === 0) throw invalidRequest([NO_CHANNEL])
  return recordChoices(app, context, principal, { contactId, channels, method })
}

async function recordChoices(
  app: AppContext,
  context: RequestContext,
  principal: Principal,
  { contactId, channels, method }: { contactId: string; channels: Partial<Subscriptions>; method: string },
): Promise<Reply> {
  const businessId = principal.business.id
  const { receivedAt, requestId } = context
  const request = { kind: 'subscribe', businessId, receivedAt, requestId, contactId, channels, method } as const
  const answer = await change(app, context, principal, request)
  if (answer === null) return QUEUED
  const { contactId: survivor, subscriptions } = answer
  return { message: RECORDED, data: { contactId: survivor, subscriptions } }
}

/** Rejects a trait of the wrong type. The worker checks it again, since fields may be created in the meantime. */
export async function patchContact(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const { business } = principal
  const { id: businessId, currency } = business
  const contactId = requireId(context)
  const { body } = await receiveBody(app, context, business, BODY_LIMITS.single)
  const fact = readEdit(body, business.country)
  if (Object.keys(fact.traits).length > 0) reject(await wrongTraits(app, businessId, fact.traits))
  const { receivedAt, requestId } = context
  const request = { kind: 'edit', businessId, receivedAt, requestId, contactId, fact } as const
  const answer = await change(app, context, principal, request)
  if (answer === null) return QUEUED
  const contact = await readContact(app.sql, { businessId, contactId: answer.contactId, currency })
  if (contact === null) throw contactNotFound()
  const engagement = await readEngagement(app.clickhouse, businessId, contact)
  return { message: EDITED, data: { contact: { ...contact, engagement }, ...withWarnings(answer.warnings) } }
}

async function wrongTraits({ sql }: AppContext, businessId: string, traits: EditFact['traits']) {
  const fields = await listCustomFields(sql, businessId)
  return traitFaults(new Map(fields.map(({ key, type }) => [key, type])), traits)
}

function reject(issues: Fault[]): void {
  if (issues.length > 0) throw invalidRequest(issues)
}

const NO_CHANNEL = faultOf('', 'at_least_one', { fields: 'email, sms, whatsapp, push' })

/** Scrubs the outbox before it answers: after a 200, Postgres has no data of the person. */
export async function eraseContact(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const businessId = principal.business.id
  const { receivedAt, requestId } = context
  const request = { kind: 'erase', businessId, receivedAt, requestId, contactId: requireId(context) } as const
  const answer = await change(app, context, principal, request)
  if (answer === null) return QUEUED
  const ids = answer.erasedIds ?? [answer.contactId]
  await Promise.all([scrubOutbox(app.sql, businessId, ids), forgetKept(app, businessId, ids)])
  return { message: ERASED, data: { contactId: answer.contactId } }
}

/** Returns null when the change is queued. Throws RequestError. */
export async function change<Request extends ContactRequest>(
  app: AppContext,
  context: RequestContext,
  { actor }: Principal,
  request: Request,
) {
  await acquireSlot(app.slots.change, context, request.businessId)
  const submit = (sent: Request) => submitRequest(app, context, sent, { keyed: true })
  const changed = await changeContact({ sql: app.sql, submit }, actor, request)
  switch (changed.kind) {
    case 'faults':
      throw invalidRequest(changed.faults)
    case 'not_found':
      throw contactNotFound()
    case 'queued':
      return null
    case 'changed':
      return changed.answer
  }
}

/**
 * Removes the kept requests of an erased contact. Without Redis, they are not shown either (see read-requests.ts), and
 * expire within the hour. At this point the person is already erased.
 */
async function forgetKept({ redis, log }: AppContext, businessId: string, ids: string[]): Promise<void> {
  await forgetRequests(redis, businessId, ids).catch((error: unknown) => {
    log.warn({ err: error, businessId }, 'the last requests of an erased contact stay in Redis until they expire')
  })
}

const EDITED = 'The contact is changed.'
const RECORDED = 'The choice is recorded.'
const ERASED = 'The person is erased.'
export const KEPT = 'The request is stored and will be applied.'
export const QUEUED: Reply = { status: 202, message: KEPT, data: { queued: true } }
const queuedReply = {
  message: KEPT,
  description: 'Stored. It will be applied, usually within seconds.',
  data: QueuedData,
  example: { queued: true },
}

function requireId(context: RequestContext): string {
  const id = readId(context.params['contactId'])
  if (id === null) throw contactNotFound()
  return id
}

const { contactId, subscriptions } = CONTACT_EXAMPLE

export const manageContactRoutes: readonly Route[] = [
  {
    method: 'PATCH',
    path: '/api/contacts/:contactId',
    answer: keyWrite(patchContact),
    operation: {
      summary: 'Edit a contact',
      description:
        'Changes only the fields that you send; null clears a field. A trait is valid from now. With a 400, nothing is changed. The ' +
        'id of a merged contact edits the contact that it was merged into.',
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
    answer: keyWrite(putSubscriptions),
    operation: {
      summary: 'Record an opt-in or opt-out',
      description:
        'The latest choice counts. When two contacts are merged, an opt-out takes precedence. With `"email": "pending"` the contact is asked ' +
        'by a mail, and the opt-in counts once it is confirmed.',
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
      errors: [...BODY_ERRORS, 'not_found', 'limit_reached', 'outcome_unknown'],
    },
  },
  {
    method: 'DELETE',
    path: '/api/contacts/:contactId',
    answer: keyWrite(eraseContact),
    operation: {
      summary: 'Erase a person',
      description:
        'Erases the contact and every contact merged into it. Idempotency keys are remembered: an erased event that is sent again changes nothing.',
      tag: 'Contacts',
      key: 'secret',
      replies: {
        200: {
          message: ERASED,
          description: 'Erased from Postgres. ClickHouse follows.',
          data: ErasedData,
          example: { contactId },
        },
        202: queuedReply,
      },
      errors: [...KEYED_ERRORS, 'not_found', 'outcome_unknown'],
    },
  },
]
