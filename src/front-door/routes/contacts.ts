/** Reading people back. */
import { findContact } from '../../contacts/find-contact.ts'
import { listIdentifications } from '../../contacts/list-identifications.ts'
import { type Contact, readContact } from '../../contacts/read-contact.ts'
import { type ResolvedContact, resolveContact } from '../../contacts/resolve-contact.ts'
import { RequestError } from '../../errors.ts'
import { IDENTITY_KINDS, type Identity } from '../../rules/facts.ts'
import { readIdentity } from '../../rules/identity.ts'
import { readEngagement } from '../../timeline/read-engagement.ts'
import { readTimeline } from '../../timeline/read-timeline.ts'
import { admitReader } from '../admit-reader.ts'
import { invalidRequest } from '../check-body.ts'
import { type Call, type Door, KEYED_ERRORS, type Reply, type Route } from '../door.ts'
import type { Business } from '../find-business.ts'
import { CONTACT_EXAMPLE, EVENT_EXAMPLE } from '../examples.ts'
import { noContact } from '../no-contact.ts'
import { readId } from '../read-id.ts'
import { cursorFault, PAGE_QUERY, queryOf, readPage } from '../read-page.ts'
import { ContactData, ContactsData, IdentificationsData, TimelineData } from '../reply-schemas.ts'

const CONTACT = 'The contact.'
const FOUND = 'One contact was found.'
const TIMELINE = 'The timeline, newest first.'
const IDENTIFICATIONS = 'The identify calls, newest first.'

async function getContact(door: Door, call: Call): Promise<Reply> {
  const { id: businessId, currency } = await admitReader(door, call)
  const contactId = readId(call.params['contactId'])
  const contact = contactId && (await readContact(door.sql, { businessId, contactId, currency }))
  if (!contact) throw noContact()
  return { message: CONTACT, data: { contact: await withEngagement(door, businessId, contact) } }
}

async function findContacts(door: Door, call: Call): Promise<Reply> {
  const business = await admitReader(door, call)
  const { id: businessId, currency } = business
  const identity = readSoughtIdentity(queryOf(call), business)
  const contactId = identity && (await findContact(door.sql, businessId, identity))
  const contact = contactId && (await readContact(door.sql, { businessId, contactId, currency }))
  return contact
    ? { message: FOUND, data: { contacts: [await withEngagement(door, businessId, contact)] } }
    : { message: 'No contact was found.', data: { contacts: [] } }
}

async function withEngagement({ clickhouse }: Door, businessId: string, contact: Contact) {
  return { ...contact, engagement: await readEngagement(clickhouse, businessId, contact) }
}

/** Exactly one field; null for a placeholder, which is nobody's. */
function readSoughtIdentity(query: URLSearchParams, { country }: Business): Identity | null {
  const sent = IDENTITY_KINDS.filter((kind) => query.has(kind))
  const [kind] = sent
  if (kind === undefined || sent.length > 1) {
    const message = 'exactly one of email, phone and platformCustomerId is required'
    throw invalidRequest([{ path: kind ?? 'email', message }])
  }
  const sought = query.get(kind) ?? ''
  const { identity, faults } = readIdentity({ [kind]: sought }, country)
  if (faults.length > 0)
    throw invalidRequest(faults.map(({ message }) => ({ path: kind, message: retell(message, sought) })))
  return identity
}

/** In a query the field stands alone, and a space may have been a plus sign. */
function retell(fault: string, sought: string): string {
  const message = fault.replace(/^identity\./, '')
  return sought.includes(' ') ? `${message}; ${PLUS}` : message
}

async function getTimeline(door: Door, call: Call): Promise<Reply> {
  const { id: businessId } = await admitReader(door, call)
  const page = readPage(call)
  const { contactIds } = await requireContact(door, call, businessId)
  const timeline = await readTimeline(door, { businessId, contactIds, ...page })
  if (timeline === 'invalid_cursor') throw cursorFault()
  if (timeline === 'unavailable') throw new RequestError('unavailable', { headers: { 'Retry-After': '1' } })
  return { message: TIMELINE, data: timeline }
}

async function getIdentifications(door: Door, call: Call): Promise<Reply> {
  const { id: businessId } = await admitReader(door, call)
  const page = readPage(call)
  const { contactIds } = await requireContact(door, call, businessId)
  const listed = await listIdentifications(door.sql, { businessId, contactIds, ...page })
  if (listed === null) throw cursorFault()
  return { message: IDENTIFICATIONS, data: listed }
}

async function requireContact(door: Door, call: Call, businessId: string): Promise<ResolvedContact> {
  const contactId = readId(call.params['contactId'])
  const resolved = contactId && (await resolveContact(door.sql, businessId, contactId))
  if (!resolved) throw noContact()
  return resolved
}

const text = { type: 'string' }
const PLUS = 'a plus sign is %2B in a query'

export const contactRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/api/contacts',
    answer: findContacts,
    operation: {
      summary: 'Find a contact by one identity field',
      tag: 'Contacts',
      key: 'secret',
      query: {
        email: {
          schema: text,
          description: `Exactly one of the three; ${PLUS}.`,
          example: 'ada@example.com',
        },
        phone: { schema: text, description: `Any format; ${PLUS}.` },
        platformCustomerId: { schema: text, description: `Your own user id; ${PLUS}.` },
      },
      replies: {
        200: {
          message: FOUND,
          description: 'None or one.',
          data: ContactsData,
          example: { contacts: [CONTACT_EXAMPLE] },
        },
      },
      errors: [...KEYED_ERRORS, 'invalid_request'],
    },
  },
  {
    method: 'GET',
    path: '/api/contacts/:contactId',
    answer: getContact,
    operation: {
      summary: 'Read a contact',
      description: 'An id that was merged answers with its survivor.',
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
    answer: getTimeline,
    operation: {
      summary: "Read a contact's events, newest first",
      description: 'Holds every event that had been answered with 200 when the request came in; else 503.',
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
    answer: getIdentifications,
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
