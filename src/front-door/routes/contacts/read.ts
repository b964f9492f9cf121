/** Reads contacts, timelines and identify calls. */
import { findContact } from '../../../contacts/read/find-contact.ts'
import { listContacts } from '../../../contacts/read/list-contacts.ts'
import { listIdentifications } from '../../../contacts/read/list-identifications.ts'
import { type Contact, readContact } from '../../../contacts/read/read-contact.ts'
import { type ResolvedContact, resolveContact } from '../../../contacts/read/resolve-contact.ts'
import { IDENTITY_KINDS, type Identity } from '../../../rules/events/facts.ts'
import { faultOf } from '../../../rules/faults.ts'
import { readIdentity } from '../../../rules/identity/identity.ts'
import { EVENT_EXAMPLE } from '../../../outbox/timeline-row.ts'
import { readEngagement } from '../../../timeline/reading/read-engagement.ts'
import { readTimeline } from '../../../timeline/reading/read-timeline.ts'
import type { EventFilter } from '../../../timeline/reading/read-unshipped.ts'
import { type Principal, keyRead } from '../../access/principal.ts'
import { invalidRequest } from '../../http/check-body.ts'
import { type RequestContext, type AppContext, KEYED_ERRORS, type Reply, type Route } from '../../app-context.ts'
import type { Business } from '../../../businesses/find-business.ts'
import { CONTACT_EXAMPLE, LISTED_CONTACT_EXAMPLE } from '../../openapi/examples.ts'
import { contactNotFound } from './contact-not-found.ts'
import { FILTER_QUERY, readFilter, requireFilter } from './read-filter.ts'
import { readId } from '../../../rules/read-id.ts'
import { invalidCursor, PAGE_QUERY, queryOf, readPage } from '../../http/read-page.ts'
import { clickHouseUnavailable } from '../../health/clickhouse-unavailable.ts'
import { AnyContactsData, ContactData, IdentificationsData, TimelineData } from './reply-schemas.ts'

const CONTACT = 'The contact.'
const FOUND = 'One contact was found.'
const LISTED = 'The contacts, newest first.'
const TIMELINE = 'The timeline, newest first.'
const IDENTIFICATIONS = 'The identify calls, newest first.'

export async function getContact(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  const { id: businessId, currency } = principal.business
  const contactId = readId(context.params['contactId'])
  const contact = contactId && (await readContact(app.sql, { businessId, contactId, currency }))
  if (!contact) throw contactNotFound()
  return { message: CONTACT, data: { contact: await withEngagement(app, businessId, contact) } }
}

/** Finds one contact by an identity, if one is sent; otherwise lists contacts. */
async function getContacts(app: AppContext, context: RequestContext, { business }: Principal): Promise<Reply> {
  const query = queryOf(context)
  return IDENTITY_KINDS.some((kind) => query.has(kind))
    ? await findByIdentity(app, business, query)
    : await list(app, context, business)
}

async function findByIdentity(app: AppContext, business: Business, query: URLSearchParams): Promise<Reply> {
  const { id: businessId, currency } = business
  const identity = readIdentityQuery(query, business)
  const contactId = identity && (await findContact(app.sql, businessId, identity))
  const contact = contactId && (await readContact(app.sql, { businessId, contactId, currency }))
  return contact
    ? { message: FOUND, data: { contacts: [await withEngagement(app, businessId, contact)] } }
    : { message: 'No contact was found.', data: { contacts: [] } }
}

async function list(app: AppContext, context: RequestContext, { id: businessId, currency }: Business): Promise<Reply> {
  const page = readPage(context)
  const filter = { ...readFilter(queryOf(context)), field: null }
  await requireFilter(app, businessId, filter)
  const listed = await listContacts(app.sql, { businessId, currency, filter, ...page })
  if (listed === null) throw invalidCursor()
  return { message: LISTED, data: listed }
}

async function withEngagement({ clickhouse }: AppContext, businessId: string, contact: Contact) {
  return { ...contact, engagement: await readEngagement(clickhouse, businessId, contact) }
}

/** Reads exactly one identity field. Returns null for a placeholder, which belongs to no contact. */
function readIdentityQuery(query: URLSearchParams, { country }: Business): Identity | null {
  const sent = IDENTITY_KINDS.filter((kind) => query.has(kind))
  const filters = ['query', 'tag', 'stage', 'segment'].filter((name) => query.has(name))
  const [kind] = sent
  if (kind === undefined || sent.length > 1) {
    throw invalidRequest([{ ...faultOf('', 'one_identity'), path: kind ?? 'email' }])
  }
  if (filters.length > 0) {
    throw invalidRequest(filters.map((path) => faultOf(path, 'filters_a_list', { kind })))
  }
  const sought = query.get(kind) ?? ''
  const { identity, faults } = readIdentity({ [kind]: sought }, country)
  if (faults.length > 0)
    throw invalidRequest(
      faults.map((fault) => ({ ...fault, path: kind, message: describeFault(fault.message, sought) })),
    )
  return identity
}

/** In a query the field has no prefix, and a space may be an unescaped plus sign. */
function describeFault(fault: string, sought: string): string {
  const message = fault.replace(/^identity\./, '')
  return sought.includes(' ') ? `${message}; in a query, write a plus sign as %2B` : message
}

export function getTimeline(app: AppContext, context: RequestContext, principal: Principal): Promise<Reply> {
  return timelineOf(app, context, principal, {})
}

export async function timelineOf(
  app: AppContext,
  context: RequestContext,
  principal: Principal,
  filter: EventFilter,
): Promise<Reply> {
  const businessId = principal.business.id
  const page = readPage(context)
  const { contactIds } = await requireContact(app, context, businessId)
  const timeline = await readTimeline(
    { ...app, signal: context.request.signal },
    { businessId, contactIds, filter, ...page },
  )
  if (timeline === 'invalid_cursor') throw invalidCursor()
  if (timeline === 'unavailable') throw clickHouseUnavailable(app, { headers: { 'Retry-After': '1' } })
  return { message: TIMELINE, data: timeline }
}

async function getIdentifications(app: AppContext, context: RequestContext, { business }: Principal): Promise<Reply> {
  const businessId = business.id
  const page = readPage(context)
  const { contactIds } = await requireContact(app, context, businessId)
  const listed = await listIdentifications(app.sql, { businessId, contactIds, ...page })
  if (listed === null) throw invalidCursor()
  return { message: IDENTIFICATIONS, data: listed }
}

export async function requireContact(
  app: AppContext,
  context: RequestContext,
  businessId: string,
): Promise<ResolvedContact> {
  const contactId = readId(context.params['contactId'])
  const resolved = contactId && (await resolveContact(app.sql, businessId, contactId))
  if (!resolved) throw contactNotFound()
  return resolved
}

const text = { type: 'string' }
const PLUS = 'In a query, write a plus sign as %2B.'

export const contactRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/contacts',
    answer: keyRead(getContacts),
    operation: {
      summary: 'List and search contacts, or find one by an identity field',
      description:
        'With one of `email`, `phone` and `platformCustomerId`, you get the full contact or none. Without, you get a page of ' +
        'contacts, newest first, without merged ones. When few of many contacts match, a page can have fewer than `limit` ' +
        'contacts, even none. There are more pages as long as `nextCursor` is not null.',
      tag: 'Contacts',
      key: 'secret',
      query: {
        email: {
          schema: text,
          description: `Finds one contact. Send at most one of email, phone and platformCustomerId. ${PLUS}`,
        },
        phone: { schema: text, description: `Any format. ${PLUS}` },
        platformCustomerId: { schema: text, description: `Your own user id. ${PLUS}` },
        ...FILTER_QUERY,
        ...PAGE_QUERY,
      },
      replies: {
        200: {
          message: LISTED,
          description: 'A page of contacts; with an identity, one contact or none.',
          data: AnyContactsData,
          example: { contacts: [LISTED_CONTACT_EXAMPLE], nextCursor: null },
        },
      },
      errors: [...KEYED_ERRORS, 'invalid_request', 'not_found'],
    },
  },
  {
    method: 'GET',
    path: '/api/contacts/:contactId',
    answer: keyRead(getContact),
    operation: {
      summary: 'Read a contact',
      description: 'The id of a merged contact returns the contact that it was merged into.',
      tag: 'Contacts',
      key: 'secret',
      replies: {
        200: {
          message: CONTACT,
          description: 'The contact.',
          data: ContactData,
          example: { contact: CONTACT_EXAMPLE },
        },
      },
      errors: [...KEYED_ERRORS, 'not_found'],
    },
  },
  {
    method: 'GET',
    path: '/api/contacts/:contactId/timeline',
    answer: keyRead(getTimeline),
    operation: {
      summary: "Read a contact's events, newest first",
      description:
        'Contains every event that was answered with 200 before this request. A page with large properties can have fewer events ' +
        'than `limit`. There are more pages as long as `nextCursor` is not null. ' +
        'You get 503 when ClickHouse does not respond for 3 s, or is too busy to answer within 10 s.',
      tag: 'Contacts',
      key: 'secret',
      query: PAGE_QUERY,
      replies: {
        200: {
          message: TIMELINE,
          description: 'A page.',
          data: TimelineData,
          example: { events: [EVENT_EXAMPLE], nextCursor: null },
        },
      },
      errors: [...KEYED_ERRORS, 'invalid_request', 'not_found'],
    },
  },
  {
    method: 'GET',
    path: '/api/contacts/:contactId/identifications',
    answer: keyRead(getIdentifications),
    operation: {
      summary: "Read a contact's identify calls, newest first",
      tag: 'Contacts',
      key: 'secret',
      query: PAGE_QUERY,
      replies: {
        200: {
          message: IDENTIFICATIONS,
          description: 'A page.',
          data: IdentificationsData,
          example: {
            identifications: [
              { identifiedAt: '2026-03-01T09:30:00.000Z', method: 'signup', keyed: true, visitorId: null },
            ],
            nextCursor: null,
          },
        },
      },
      errors: [...KEYED_ERRORS, 'invalid_request', 'not_found'],
    },
  },
]
