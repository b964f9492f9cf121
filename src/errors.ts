/** The one catalogue of what can go wrong at the door (decisions, "Envelope, errors, headers"). */

export const ERRORS = {
  malformed_json: { status: 400, message: 'The body is not valid JSON.' },
  invalid_request: { status: 400, message: 'The request breaks a rule of this endpoint.' },
  identity_required: {
    status: 400,
    message: 'identity: at least one usable field of email, phone and platformCustomerId is needed.',
  },
  invalid_occurred_at: { status: 400, message: 'occurredAt: no event can have happened at this time.' },
  properties_too_large: { status: 400, message: 'properties: at most 32,768 bytes of compact JSON.' },
  missing_api_key: { status: 401, message: 'The Authorization header is missing: send "Authorization: Bearer <key>".' },
  invalid_api_key: { status: 401, message: 'The API key is invalid or revoked.' },
  publishable_key: { status: 403, message: 'A publishable key cannot do this: use a secret key, from a server.' },
  business_mismatch: { status: 403, message: 'businessId: the API key belongs to another business.' },
  business_inactive: { status: 403, message: 'The business is not active.' },
  origin_not_allowed: { status: 403, message: 'This origin is not among those that the business allows.' },
  business_not_found: { status: 404, message: 'There is no such business.' },
  not_found: { status: 404, message: 'There is nothing here.' },
  method_not_allowed: { status: 405, message: 'This path does not answer that method.' },
  limit_reached: { status: 409, message: 'The business has as many of these as it may have.' },
  payload_too_large: { status: 413, message: 'The body is too large.' },
  unsupported_media_type: { status: 415, message: 'Content-Type must be application/json.' },
  rate_limited: { status: 429, message: 'Too many requests: try again after the time in Retry-After.' },
  internal: { status: 500, message: 'Something went wrong on our side.' },
  unavailable: { status: 503, message: 'The service cannot take this now; nothing was recorded. Try again.' },
  outcome_unknown: {
    status: 503,
    message:
      'It is unknown whether this was recorded. Send it again: an event with its idempotencyKey is recorded once.',
  },
} as const

export type ErrorCode = keyof typeof ERRORS

/** What is wrong with one field; `path` is dotted, such as `identity.email` or `tags.3`. */
export interface Issue {
  path: string
  message: string
}

interface RequestErrorOptions {
  message?: string
  issues?: readonly Issue[]
  /** Sent with the answer, such as Retry-After. */
  headers?: Record<string, string>
  cause?: unknown
}

/** A refusal that the caller is told of. Thrown anywhere behind the door, answered in one place. */
export class RequestError extends Error {
  override name = 'RequestError'
  readonly code: ErrorCode
  readonly status: number
  readonly issues: readonly Issue[] | undefined
  readonly headers: Record<string, string>

  constructor(code: ErrorCode, options: RequestErrorOptions = {}) {
    // Where in the code a caller was refused tells nobody anything, and finding out would cost more than all else of it.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(options.message ?? ERRORS[code].message, { cause: options.cause })
    Error.stackTraceLimit = stackTraceLimit
    this.code = code
    this.status = ERRORS[code].status
    this.issues = options.issues
    this.headers = options.headers ?? {}
  }
}
