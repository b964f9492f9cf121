/** One request as it is kept for an hour, for the people of its business. */
import type { Issue } from '../errors.ts'
import { readId } from '../rules/read-id.ts'
import { maskText, redactAnswer, redactBody, redactQuery } from './redact.ts'
import { isRecord } from '../rules/is-record.ts'

export const OUTCOMES = ['done', 'warned', 'queued', 'refused', 'limited', 'failed'] as const
export type Outcome = (typeof OUTCOMES)[number]

export interface RecordedRequest {
  /** Its index in the entry that it was written with. */
  index: number
  /** Time of receipt in epoch ms. */
  at: number
  requestId: string
  method: string
  /** The pattern of the path: ids in a path may identify a person. */
  route: string
  query: string
  status: number
  outcome: Outcome
  /** The error code; empty for a success. */
  code: string
  ms: number
  /** Last characters of the key; null without one. */
  key: string | null
  event: string | null
  contactId: string | null
  message: string
  warnings: string[]
  issues: Issue[]
  /** Null when there was none, or when it is too large to be kept. */
  body: unknown
  bodyBytes: number
  answer: unknown
}

const MAX_BODY = 4096
const MAX_ANSWER = 2048
const MAX_TEXT = 200
const MAX_LIST = 20

/** Larger bodies are not kept: their redacted forms would be too large as well. */
const MAX_SENT = 16_384

/** A request that the front door has answered: the part of its context that is recorded. */
export interface AnsweredRequest {
  request: Pick<Request, 'method' | 'url'>
  params: Readonly<Record<string, string>>
  requestId: string
  /** Null until the business is known to exist. */
  businessId: string | null
  keyHint: string | null
  body: unknown
  bodyBytes: number
  reply: { message: string; data: object } | null
  rejection: { message: string; issues?: readonly Issue[] | undefined } | null
  rejectionCode: string
  receivedAt: number
}

/** References to the parts of a request. They are read only when the request is written. */
export interface Taken {
  route: string
  method: string
  url: string
  at: number
  ms: number
  status: number
  code: string
  requestId: string
  key: string | null
  body: unknown
  bodyBytes: number
  message: string
  data: object | null
  issues: readonly Issue[]
  contactId: string | null
}

/** Copies the references, so that a body is not kept in memory together with its whole request. */
export function takeRequest(route: string, context: AnsweredRequest, status: number, ms: number): Taken {
  const { request, reply, rejection, bodyBytes } = context
  return {
    route,
    method: request.method,
    url: request.url,
    at: context.receivedAt,
    ms,
    status,
    code: context.rejectionCode,
    requestId: context.requestId,
    key: context.keyHint,
    body: bodyBytes > MAX_SENT ? cutBody(context.body) : context.body,
    bodyBytes,
    message: reply?.message ?? rejection?.message ?? '',
    // The answers of other routes contain data of contacts.
    data: reply !== null && isIngest(route) ? reply.data : null,
    issues: rejection?.issues ?? [],
    contactId: contactOf(context, route),
  }
}

export const isIngest = (route: string): boolean => route.startsWith('/api/sdk/')

/** Returns the id of the contact. For an erasure, nothing that identifies the person is kept. */
function contactOf({ request, params, reply }: AnsweredRequest, route: string): string | null {
  if (request.method === 'DELETE') return null
  const answered = reply === null || !isIngest(route) ? undefined : (reply.data as { contactId?: unknown }).contactId
  if (typeof answered === 'string') return answered
  // Only a valid id: callers can write anything into a path.
  return readId(params['contactId'])
}

/**
 * Reduces a large body to the name of its event or, for a batch, to the number of events and the names of the first.
 */
function cutBody(body: unknown): unknown {
  if (!isRecord(body)) return undefined
  const { event, events } = body
  return Array.isArray(events) ? redactBody({ events }, false) : { event }
}

/** Items that were refused are stored nowhere, so a batch with some is `warned` even if the others are queued. */
function outcomeOf(status: number, flaws: { failures: number; warnings: number }): Outcome {
  if (status >= 500) return 'failed'
  if (status === 429) return 'limited'
  if (status >= 400) return 'refused'
  if (flaws.failures > 0) return 'warned'
  if (status === 202) return 'queued'
  return flaws.warnings > 0 ? 'warned' : 'done'
}

/** Returns what was wrong with the items of a batch. */
function failuresOf(data: object | null): Issue[] {
  if (!isRecord(data) || !Array.isArray(data['failures'])) return []
  const failures = data['failures'] as { index: number; error: string }[]
  return failures.map(({ index, error }) => ({ path: `events[${index}]`, message: error }))
}

export function recordRequest(taken: Taken, index: number): RecordedRequest {
  const { body, data, contactId, bodyBytes } = taken
  const warnings = isRecord(data) && Array.isArray(data['warnings']) ? (data['warnings'] as string[]) : []
  const failures = failuresOf(data)
  const issues = [...taken.issues, ...failures].slice(0, MAX_LIST)
  const isCut = bodyBytes > MAX_SENT
  return {
    index,
    at: taken.at,
    requestId: maskText(taken.requestId),
    method: taken.method,
    route: taken.route,
    query: redactQuery(taken.url),
    status: taken.status,
    outcome: outcomeOf(taken.status, { failures: failures.length, warnings: warnings.length }),
    code: taken.code,
    ms: Math.round(taken.ms * 10) / 10,
    key: taken.key,
    event: eventOf(body),
    contactId,
    message: cut(taken.message),
    warnings: warnings.slice(0, MAX_LIST).map(cut),
    issues: issues.map(({ path, message }) => ({ path: cut(path), message: cut(message) })),
    body: body === undefined ? null : isCut ? body : within(MAX_BODY, redactBody(body, contactId !== null)),
    bodyBytes,
    answer: data === null ? null : within(MAX_ANSWER, redactAnswer(data)),
  }
}

const cut = (text: string): string => maskText(text).slice(0, MAX_TEXT)

function eventOf(body: unknown): string | null {
  const event = isRecord(body) ? body['event'] : undefined
  return typeof event === 'string' ? cut(event) : null
}

const within = (limit: number, value: unknown): unknown => (JSON.stringify(value).length > limit ? null : value)
