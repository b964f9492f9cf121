/** One contact: all data about the person, their timeline, changes and erasure. */
import { Type } from '@sinclair/typebox'
import { listCustomFields } from '../../../../contacts/read/list-custom-fields.ts'
import { readContact } from '../../../../contacts/read/read-contact.ts'
import { MAX_CHOICES, MAX_MERGES, readHistory } from '../../../../contacts/read/read-history.ts'
import { RequestError } from '../../../../errors.ts'
import { CHANNELS, FIELD_TYPES, IDENTITY_KINDS, INTERPRETED_TYPES } from '../../../../rules/events/facts.ts'
import { STAGES } from '../../../../rules/events/journey-stage.ts'
import { trimText } from '../../../../rules/events/text.ts'
import { faultOf } from '../../../../rules/faults.ts'
import { readEngagement } from '../../../../timeline/reading/read-engagement.ts'
import type { EventFilter } from '../../../../timeline/reading/read-unshipped.ts'
import { readVisits } from '../../../../timeline/reading/read-visits.ts'
import { type DashboardRoute, businessRoute } from '../../../access/authenticate-session.ts'
import type { Principal } from '../../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../../app-context.ts'
import { invalidRequest, uncleanIssues } from '../../../http/check-body.ts'
import { PAGE_QUERY, invalidCursor, queryOf, readPage } from '../../../http/read-page.ts'
import { contactNotFound } from '../../contacts/contact-not-found.ts'
import { EditSchema } from '../../contacts/edit-schema.ts'
import { eraseContact, patchContact, putSubscriptions } from '../../contacts/manage.ts'
import { requireContact, timelineOf } from '../../contacts/read.ts'
import { Contact, EditedData, ErasedData, SubscriptionsData, TimelineData } from '../../contacts/reply-schemas.ts'
import { SubscriptionsSchema } from '../../contacts/subscriptions-schema.ts'
import { QueuedData, closed, count, dateTime, nextCursor, oneOf, orNull, uuid } from '../../reply-fields.ts'
import { sendExport } from './contact-export.ts'
import { MEMBER_BODY_ERRORS, MEMBER_ERRORS } from '../people/session.ts'

async function getContact(app: AppContext, context: RequestContext, { business }: Principal): Promise<Reply> {
  const { id: businessId, currency } = business
  const { contactId, contactIds } = await requireContact(app, context, businessId)
  const contact = await readContact(app.sql, { businessId, contactId, currency })
  if (contact === null) throw contactNotFound()
  const [engagement, history, fields] = await Promise.all([
    readEngagement(app.clickhouse, businessId, contact),
    readHistory(app.sql, { businessId, contactId, contactIds }),
    listCustomFields(app.sql, businessId),
  ])
  const types = fields.map(({ key, type }) => ({ key, type }))
  return { message: CONTACT, data: { contact: { ...contact, engagement }, ...history, fields: types } }
}

const MAX_EVENT = 256

function getTimeline(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  return timelineOf(app, context, principal, readEventFilter(queryOf(context)))
}

function readEventFilter(sent: URLSearchParams): EventFilter {
  const event = trimText(sent.get('event') ?? '')
  const wanted = sent.get('type') ?? ''
  const type = INTERPRETED_TYPES.find((one) => one === wanted)
  const issues = uncleanIssues({ event })
  if (event.length > MAX_EVENT) issues.push(faultOf('event', 'characters_up_to', { max: MAX_EVENT }))
  if (wanted !== '' && type === undefined)
    issues.push(faultOf('type', 'one_of', { choices: INTERPRETED_TYPES.join(', ') }))
  if (issues.length > 0) throw invalidRequest(issues)
  return { ...(event !== '' && { event }), ...(type !== undefined && { type }) }
}

async function getVisits(app: AppContext, context: RequestContext, { business }: Principal): Promise<Reply> {
  const { id: businessId, currency } = business
  const page = readPage(context)
  const { contactId, contactIds } = await requireContact(app, context, businessId)
  const contact = await readContact(app.sql, { businessId, contactId, currency })
  if (contact === null) throw contactNotFound()
  const visits = await readVisits(
    { ...app, signal: context.request.signal },
    { businessId, contactIds, visitorIds: contact.visitorIds, ...page },
  )
  if (visits === 'invalid_cursor') throw invalidCursor()
  if (visits === 'unavailable') throw new RequestError('unavailable', { headers: { 'Retry-After': '1' } })
  return { message: VISITS, data: visits }
}

const CONTACT = 'The contact.'
const TIMELINE = 'The timeline, newest first.'
const VISITS = 'The visits, newest first.'

const Choice = Type.Object(
  { channel: oneOf(CHANNELS), subscribed: Type.Boolean(), method: Type.String(), recordedAt: dateTime },
  closed,
)
const DetailData = Type.Object(
  {
    contact: Contact,
    consents: Type.Array(Choice, { description: 'The latest choice of each channel that has one.' }),
    consentHistory: Type.Array(Choice, { description: `All choices, newest first; at most ${MAX_CHOICES}.` }),
    stages: Type.Array(Type.Object({ stage: oneOf(STAGES), event: orNull(Type.String()), at: dateTime }, closed), {
      description: 'When the contact first reached each stage, and by which event; oldest first.',
    }),
    merges: Type.Array(
      Type.Object(
        {
          action: oneOf(['merged', 'moved', 'released']),
          losingId: uuid,
          evidence: Type.Array(Type.Object({ kind: oneOf(IDENTITY_KINDS), value: Type.String() }, closed)),
          recordedAt: dateTime,
        },
        closed,
      ),
      { description: `Newest first; at most ${MAX_MERGES}.` },
    ),
    campaignNames: Type.Record(Type.String(), Type.String(), { description: 'By the id of the campaign.' }),
    fields: Type.Array(Type.Object({ key: Type.String(), type: oneOf(FIELD_TYPES) }, closed), {
      description: "The business's custom fields.",
    }),
  },
  closed,
)
const VisitsData = Type.Object(
  {
    visits: Type.Array(
      Type.Object(
        {
          visitorId: Type.String(),
          startedAt: dateTime,
          endedAt: dateTime,
          pages: count,
          entryUrl: Type.String(),
          exitUrl: Type.String(),
          activeMs: count,
          referrer: Type.String(),
        },
        closed,
      ),
    ),
    nextCursor,
  },
  closed,
)

const tag = 'Contacts'
const key = 'session'
const queued = { message: 'The request is stored and will be applied.', description: 'Stored.', data: QueuedData }

export const contactRoutes: readonly DashboardRoute[] = [
  businessRoute({
    method: 'GET',
    path: '/contacts/:contactId',
    permission: 'contacts:read',
    handler: getContact,
    operation: {
      summary: 'Read a contact',
      description: 'The id of a merged contact returns the contact that it was merged into.',
      tag,
      key,
      replies: { 200: { message: CONTACT, description: 'The contact.', data: DetailData } },
      errors: [...MEMBER_ERRORS, 'not_found'],
    },
  }),
  businessRoute({
    method: 'GET',
    path: '/contacts/:contactId/timeline',
    permission: 'contacts:read',
    handler: getTimeline,
    operation: {
      summary: "Read a contact's events, newest first",
      tag,
      key,
      query: {
        event: { schema: { type: 'string', maxLength: MAX_EVENT }, description: 'Only events of this name.' },
        type: { schema: { type: 'string', enum: INTERPRETED_TYPES }, description: 'Only events of this meaning.' },
        ...PAGE_QUERY,
      },
      replies: { 200: { message: TIMELINE, description: 'A page.', data: TimelineData } },
      errors: [...MEMBER_ERRORS, 'invalid_request', 'not_found'],
    },
  }),
  businessRoute({
    method: 'GET',
    path: '/contacts/:contactId/visits',
    permission: 'contacts:read',
    handler: getVisits,
    operation: {
      summary: "Read a contact's visits of web pages, newest first",
      tag,
      key,
      query: PAGE_QUERY,
      replies: { 200: { message: VISITS, description: 'A page.', data: VisitsData } },
      errors: [...MEMBER_ERRORS, 'invalid_request', 'not_found'],
    },
  }),
  businessRoute({
    method: 'GET',
    path: '/contacts/:contactId/export',
    permission: 'contacts:export',
    handler: sendExport,
    // The answer is a file, without the envelope.
    operation: null,
  }),
  businessRoute({
    method: 'PATCH',
    path: '/contacts/:contactId',
    permission: 'contacts:write',
    handler: patchContact,
    operation: {
      summary: 'Edit a contact',
      tag,
      key,
      body: { schema: EditSchema },
      replies: {
        200: { message: 'The contact is changed.', description: 'As it is now.', data: EditedData },
        202: queued,
      },
      errors: [...MEMBER_BODY_ERRORS, 'not_found', 'outcome_unknown'],
    },
  }),
  businessRoute({
    method: 'PUT',
    path: '/contacts/:contactId/subscriptions',
    permission: 'contacts:write',
    handler: putSubscriptions,
    operation: {
      summary: 'Record an opt-in or opt-out',
      tag,
      key,
      body: { schema: SubscriptionsSchema },
      replies: {
        200: {
          message: 'The choice is recorded.',
          description: 'All channels as they are now.',
          data: SubscriptionsData,
        },
        202: queued,
      },
      errors: [...MEMBER_BODY_ERRORS, 'not_found', 'outcome_unknown'],
    },
  }),
  businessRoute({
    method: 'DELETE',
    path: '/contacts/:contactId',
    permission: 'contacts:erase',
    isDangerous: true,
    handler: eraseContact,
    operation: {
      summary: 'Erase a person',
      tag,
      key,
      replies: { 200: { message: 'The person is erased.', description: 'Erased.', data: ErasedData }, 202: queued },
      errors: [...MEMBER_ERRORS, 'confirmation_required', 'not_found', 'outcome_unknown'],
    },
  }),
]
