/** The latest requests of a business, as they arrive. */
import { type Static, Type } from '@sinclair/typebox'
import { RequestError } from '../../../../errors.ts'
import { faultOf } from '../../../../rules/faults.ts'
import { type DashboardRoute, businessRoute } from '../../../access/authenticate-session.ts'
import type { Principal } from '../../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../../app-context.ts'
import { invalidRequest } from '../../../http/check-body.ts'
import { readId } from '../../../../rules/read-id.ts'
import { queryOf } from '../../../http/read-page.ts'
import { OUTCOMES } from '../../../../request-log/recorded-request.ts'
import {
  type FoundRequest,
  type RequestFilter,
  readRequest,
  readRequests,
} from '../../../../request-log/read-requests.ts'
import { closed, count, dateTime, oneOf, orNull, uuid } from '../../reply-fields.ts'
import { MEMBER_ERRORS } from '../people/session.ts'

const text = Type.String()

const SUMMARY = {
  id: text,
  at: dateTime,
  requestId: text,
  method: text,
  route: Type.String({ description: 'The pattern of the path.' }),
  query: Type.String({ description: 'Of the URL, its values redacted.' }),
  status: count,
  outcome: oneOf(OUTCOMES),
  code: Type.String({ description: 'The error code; empty for a success.' }),
  ms: Type.Number({ description: 'From the arrival to the answer.' }),
  key: orNull(Type.String({ description: 'The last characters of the key.' })),
  event: orNull(text),
  contactId: orNull(uuid),
  message: text,
  warnings: Type.Array(text),
}
const SummaryData = Type.Object(SUMMARY, closed)
const RequestsData = Type.Object(
  {
    requests: Type.Array(SummaryData),
    omitted: Type.Integer({ minimum: 0, description: 'Requests of the same time that were not kept.' }),
    newest: Type.Integer({ minimum: 0, description: 'Send it as `after` to get what is newer.' }),
    oldest: orNull(Type.Integer({ description: 'Send it as `before` to get what is older. Null at the end.' })),
  },
  closed,
)
const RequestData = Type.Object(
  {
    ...SUMMARY,
    issues: Type.Array(Type.Object({ path: text, message: text }, closed)),
    body: Type.Unknown({ description: 'Redacted. Null when there was none, or it is too large to be kept.' }),
    bodyBytes: count,
    answer: Type.Unknown({ description: 'The `data` of the answer, redacted; null for errors and for reads.' }),
  },
  closed,
)

async function getRequests(app: AppContext, context: RequestContext, { business }: Principal): Promise<Reply> {
  const query = queryOf(context)
  const after = readScore(query, 'after')
  const before = readScore(query, 'before')
  const span = { ...(after !== undefined && { after }), ...(before !== undefined && { before }) }
  const { requests, ...rest } = await readRequests(app, business.id, span, readFilter(query))
  const data: Static<typeof RequestsData> = { requests: requests.map(summarise), ...rest }
  return { message: 'The last requests.', data }
}

function readScore(query: URLSearchParams, name: 'after' | 'before'): number | undefined {
  const sent = query.get(name)
  if (sent === null) return undefined
  if (!/^\d{1,15}$/.test(sent)) throw invalidRequest([faultOf(name, 'whole_number_from_0')])
  return Number(sent)
}

const MAX_TEXT = 200

function readFilter(query: URLSearchParams): RequestFilter {
  const read = (name: string) => query.get(name)?.slice(0, MAX_TEXT) || null
  const sent = read('contactId')
  const contactId = sent === null ? null : readId(sent)
  if (sent !== null && contactId === null) {
    throw invalidRequest([faultOf('contactId', 'contact_id')])
  }
  const wanted = read('outcome')
  const outcome = OUTCOMES.find((one) => one === wanted) ?? null
  if (wanted !== null && outcome === null) {
    throw invalidRequest([faultOf('outcome', 'one_of', { choices: OUTCOMES.join(', ') })])
  }
  return { event: read('event'), key: read('key'), outcome, contactId }
}

function summarise(request: FoundRequest): Static<typeof SummaryData> {
  const { id, requestId, method, route, query, status, outcome, code, ms, key, event, contactId } = request
  const { message, warnings } = request
  const at = new Date(request.at).toISOString()
  return {
    id,
    at,
    requestId,
    method,
    route,
    query,
    status,
    outcome,
    code,
    ms,
    key,
    event,
    contactId,
    message,
    warnings,
  }
}

async function getRequest(app: AppContext, context: RequestContext, { business }: Principal): Promise<Reply> {
  const request = await readRequest(app, business.id, context.params['requestId'] ?? '')
  if (request === null) {
    throw new RequestError('not_found', { reason: faultOf('', 'request_gone') })
  }
  const { issues, body, bodyBytes, answer } = request
  const data: Static<typeof RequestData> = { ...summarise(request), issues, body, bodyBytes, answer }
  return { message: 'The request.', data }
}

const parameter = (description: string) => ({ schema: { type: 'string' }, description }) as const

export const requestRoutes: readonly DashboardRoute[] = [
  businessRoute({
    method: 'GET',
    path: '/requests',
    permission: 'contacts:read',
    handler: getRequests,
    operation: {
      summary: 'List the last requests',
      description:
        'Those with a key of the business and those of its pages, newest first. Kept for an hour; of many successes in one moment only some are kept. ' +
        'Addresses, names and keys are redacted. Of a request that led to no contact only the names and types of the fields are kept.',
      tag: 'Events',
      key: 'session',
      query: {
        after: parameter('The `newest` of an earlier answer.'),
        before: parameter('The `oldest` of an earlier answer.'),
        event: parameter('Part of the name of the event.'),
        key: parameter('The last characters of the key.'),
        outcome: { schema: { type: 'string', enum: [...OUTCOMES] }, description: 'How they were answered.' },
        contactId: parameter('The contact that they were about.'),
      },
      replies: { 200: { message: 'The last requests.', description: 'The requests.', data: RequestsData } },
      errors: [...MEMBER_ERRORS, 'invalid_request'],
    },
  }),
  businessRoute({
    method: 'GET',
    path: '/requests/:requestId',
    permission: 'contacts:read',
    handler: getRequest,
    operation: {
      summary: 'Read one of the last requests',
      tag: 'Events',
      key: 'session',
      replies: { 200: { message: 'The request.', description: 'With its body and its answer.', data: RequestData } },
      errors: [...MEMBER_ERRORS, 'not_found'],
    },
  }),
]
