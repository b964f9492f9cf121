/** The choices of a contact within its channels. */
import { Type } from '@sinclair/typebox'
import { readTopicHistory, readTopics } from '../../../contacts/read/read-topics.ts'
import { listTopics } from '../../../messages/topics/list-topics.ts'
import { CHANNELS } from '../../../rules/events/facts.ts'
import { readId } from '../../../rules/read-id.ts'
import { type SentChoices, readChoices } from '../../../rules/topics/read-choices.ts'
import { topicFaults } from '../../../rules/topics/topic-faults.ts'
import type { Principal } from '../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../app-context.ts'
import { compileCheck, invalidRequest, requireBody, uncleanIssues } from '../../http/check-body.ts'
import { BODY_LIMITS } from '../../http/read-body.ts'
import { invalidCursor, PAGE_QUERY, readPage } from '../../http/read-page.ts'
import { receiveBody } from '../../http/receive-body.ts'
import { CONTACT_EXAMPLE } from '../../openapi/examples.ts'
import { text } from '../body-fields.ts'
import type { BusinessEndpoint } from '../business-endpoint.ts'
import { QueuedData, closed, dateTime, nextCursor, oneOf, uuid, warningList } from '../reply-fields.ts'
import { withWarnings } from '../submit-request.ts'
import { ConfirmationData } from './confirmation-schema.ts'
import { contactNotFound } from './contact-not-found.ts'
import { KEPT, QUEUED, change } from './manage.ts'
import { CONFIRMATION_REQUESTED, requestConfirmation } from './request-confirmation.ts'
import { TopicStates } from './reply-schemas.ts'

const RECORDED = 'The choices are recorded.'
const READ = 'The topics of the contact.'

const BodySchema = Type.Object({
  topics: Type.Record(Type.String(), Type.Unknown(), {
    description:
      'By key and channel: true, false or, for email, `pending`, which asks the contact by mail. All are recorded, or none.',
  }),
  method: text(1, 64, 'How the choice was made.', 'preference form'),
})
const checkChoices = compileCheck(BodySchema)

async function putTopics(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const { business } = principal
  const contactId = requireId(context)
  const { body } = await receiveBody(app, context, business, BODY_LIMITS.single)
  const { method, topics: sent } = requireBody(checkChoices(body))
  const unclean = uncleanIssues({ method })
  if (unclean.length > 0) throw invalidRequest(unclean)
  const read = readChoices(sent, { mayWait: true })
  if ('faults' in read) throw invalidRequest(read.faults)
  await requireKnown(app, business.id, read)
  const { choices, pending } = read
  const asked =
    pending.length === 0 ? null : await requestConfirmation(app, context, principal, { contactId, topics: pending })
  const confirmation = asked === null ? {} : { confirmation: asked.confirmation }
  if (choices.length === 0) {
    const found = await requireTopics(app, business.id, contactId)
    return { message: CONFIRMATION_REQUESTED, data: { ...found, ...confirmation } }
  }
  const { receivedAt, requestId } = context
  const request = {
    kind: 'subscribe',
    businessId: business.id,
    receivedAt,
    requestId,
    contactId,
    channels: {},
    topics: choices,
    method,
  } as const
  const answer = await change(app, context, principal, request)
  if (answer === null) return QUEUED
  const found = await requireTopics(app, business.id, answer.contactId)
  return { message: RECORDED, data: { ...found, ...confirmation, ...withWarnings(answer.warnings ?? []) } }
}

/** The worker checks it again: topics may be deleted in the meantime. */
async function requireKnown(app: AppContext, businessId: string, { choices, pending }: SentChoices): Promise<void> {
  const topics = new Map((await listTopics(app.sql, businessId)).map((topic) => [topic.key, topic]))
  const waiting = pending.map((topic) => ({ topic, channel: 'email' as const }))
  const faults = topicFaults(topics, [...choices, ...waiting])
  if (faults.length > 0) throw invalidRequest(faults)
}

async function requireTopics(app: AppContext, businessId: string, contactId: string) {
  const found = await readTopics(app.sql, { businessId, contactId })
  if (found === null) throw contactNotFound()
  return found
}

async function getTopics(app: AppContext, context: RequestContext, { business }: Principal): Promise<Reply> {
  const page = readPage(context)
  const found = await requireTopics(app, business.id, requireId(context))
  const { contactId } = found
  const history = await readTopicHistory(app.sql, { businessId: business.id, contactId }, page)
  if (history === null) throw invalidCursor()
  return { message: READ, data: { ...found, ...history } }
}

function requireId({ params }: RequestContext): string {
  const id = readId(params['contactId'])
  if (id === null) throw contactNotFound()
  return id
}

const entry = Type.Object(
  {
    topic: Type.String(),
    channel: oneOf(CHANNELS),
    subscribed: Type.Boolean(),
    at: dateTime,
    method: Type.String(),
  },
  closed,
)
const ofContact = { contactId: uuid, topics: TopicStates }
export const ContactTopicsData = Type.Object({ ...ofContact, history: Type.Array(entry), nextCursor }, closed)
export const SavedTopicsData = Type.Object(
  { ...ofContact, confirmation: Type.Optional(ConfirmationData), warnings: warningList },
  closed,
)

const { contactId } = CONTACT_EXAMPLE
const at = '2026-03-01T09:30:00.000Z'
const method = 'preference form'
const topics = { newsletter: { email: { subscribed: true, choice: true, at, method } } }
const PATH = '/contacts/:contactId/topics'
const tag = 'Contacts'

export const contactTopicEndpoints: readonly BusinessEndpoint[] = [
  {
    method: 'GET',
    path: PATH,
    permission: 'contacts:read',
    handler: getTopics,
    operation: {
      summary: 'Read the topics of a contact',
      description:
        '`subscribed` is the choice, or else the default of the topic. A message goes out only if the channel has an opt-in, too.',
      tag,
      query: PAGE_QUERY,
      replies: {
        200: {
          message: READ,
          description: 'The topics, and a page of all choices, newest first.',
          data: ContactTopicsData,
          example: {
            contactId,
            topics,
            history: [{ topic: 'newsletter', channel: 'email', subscribed: true, at, method }],
            nextCursor: null,
          },
        },
      },
    },
    errors: ['invalid_request', 'not_found'],
  },
  {
    method: 'PUT',
    path: PATH,
    permission: 'contacts:write',
    handler: putTopics,
    operation: {
      summary: 'Record choices of topics',
      description:
        'True does not open a channel, and false does not end one. All choices are recorded, or none. With `pending`, one mail asks for all ' +
        'topics that are pending, and they and the channel are recorded once it is confirmed.',
      tag,
      body: { schema: BodySchema, example: { topics: { newsletter: { email: true } }, method } },
      replies: {
        200: {
          message: RECORDED,
          description: 'The topics as they are now.',
          data: SavedTopicsData,
          example: { contactId, topics },
        },
        202: {
          message: KEPT,
          description: 'Stored. It will be applied, usually within seconds.',
          data: QueuedData,
          example: { queued: true },
        },
      },
    },
    errors: ['not_found', 'limit_reached', 'outcome_unknown'],
  },
]
