import type { Fault } from './rules/faults.ts'

/** All error codes of the HTTP API, with their statuses and messages (decisions, "Envelope, errors, headers"). */

export const ERRORS = {
  malformed_json: { status: 400, message: 'The body is not valid JSON. Send one JSON object in UTF-8.' },
  invalid_request: { status: 400, message: 'The request breaks a rule of this endpoint.' },
  identity_required: {
    status: 400,
    message: 'identity has no usable field: send an email, a phone or a platformCustomerId.',
  },
  invalid_occurred_at: {
    status: 400,
    message: 'occurredAt is not a valid time: send ISO 8601 or epoch milliseconds, at most 5 minutes in the future.',
  },
  properties_too_large: {
    status: 400,
    message: 'The properties are too large: send at most 32,768 bytes of compact JSON.',
  },
  missing_api_key: { status: 401, message: 'The Authorization header is missing: send "Authorization: Bearer <key>".' },
  invalid_api_key: { status: 401, message: 'The API key is invalid or revoked. Send a valid key.' },
  publishable_key: {
    status: 403,
    message: 'This endpoint does not accept a publishable key. Send a secret key, from a server.',
  },
  not_signed_in: { status: 401, message: 'You are not signed in, or your session has ended. Sign in.' },
  wrong_credentials: { status: 401, message: 'The email address or the password is wrong.' },
  second_factor_required: { status: 401, message: 'Enter the code of your authenticator app, or a recovery code.' },
  key_not_accepted: {
    status: 403,
    message: 'The dashboard does not accept API keys. Send the request to a path that begins with /api.',
  },
  cross_site_request: {
    status: 403,
    message: 'The request does not come from a page of this dashboard. Behind a proxy, set PUBLIC_URL.',
  },
  not_permitted: { status: 403, message: 'Your role in this business does not allow this.' },
  confirmation_required: { status: 403, message: 'Confirm that it is you: enter your password again.' },
  business_mismatch: {
    status: 403,
    message: 'businessId names another business than the API key does. Leave it out, or send the key of that business.',
  },
  business_inactive: { status: 403, message: 'The business is not active.' },
  forged_callback: { status: 403, message: 'The callback is not from the provider of the channel.' },
  origin_not_allowed: { status: 403, message: 'The business does not allow calls from this origin.' },
  business_not_found: { status: 404, message: 'There is no business with this id.' },
  not_found: { status: 404, message: 'Not found. Check the path and the id in it.' },
  method_not_allowed: {
    status: 405,
    message: 'This path does not support this method. The Allow header lists the methods that it supports.',
  },
  last_owner: { status: 409, message: 'A business needs an owner. Make another person owner first.' },
  business_not_empty: {
    status: 409,
    message: 'The business has contacts of its own. Demo data is loaded into a business without contacts only.',
  },
  link_expired: { status: 410, message: 'This link was used already, or is too old. Ask for a new one.' },
  locked: { status: 409, message: 'Its status does not allow this change.' },
  in_use: { status: 409, message: 'It cannot be deleted while something else uses it.' },
  secrets_key: {
    status: 409,
    message: 'Sluice has no SECRETS_KEY, which encrypts the secrets that it stores. Ask your operator to set it.',
  },
  limit_reached: { status: 409, message: 'The business has reached the maximum number of these.' },
  payload_too_large: { status: 413, message: 'The body is too large.' },
  uri_too_long: {
    status: 414,
    message: 'The path with its query is too long: send at most 16,384 characters.',
  },
  unsupported_media_type: { status: 415, message: 'Content-Type must be application/json.' },
  rate_limited: { status: 429, message: 'Too many requests. Try again after the number of seconds in Retry-After.' },
  internal: { status: 500, message: 'Something went wrong on our side.' },
  unavailable: {
    status: 503,
    message:
      'The service cannot accept the request now. Nothing was recorded. Try again after the number of seconds in Retry-After.',
  },
  outcome_unknown: {
    status: 503,
    message: 'It is not known whether the change was made. Read again what it changes before you repeat it.',
  },
} as const

export type ErrorCode = keyof typeof ERRORS

/** One invalid field and the reason. */
export type Issue = Fault

interface RequestErrorOptions {
  message?: string
  /** Replaces the message with a fault that has a code of its own. */
  reason?: Fault
  issues?: readonly Issue[]
  /** Headers to send with the response, such as Retry-After. */
  headers?: Record<string, string>
  cause?: unknown
}

/**
 * An error that the caller sees. Any part of the front door may throw it; one place responds to it (error-response.ts).
 */
export class RequestError extends Error {
  override name = 'RequestError'
  readonly code: ErrorCode
  readonly status: number
  readonly issues: readonly Issue[] | undefined
  readonly reason: Fault | undefined
  readonly headers: Record<string, string>

  constructor(code: ErrorCode, options: RequestErrorOptions = {}) {
    // The stack of a rejection is never logged, and capturing it would cost more than the rest of the error.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    super(options.message ?? options.reason?.message ?? ERRORS[code].message, { cause: options.cause })
    Error.stackTraceLimit = stackTraceLimit
    this.code = code
    this.status = ERRORS[code].status
    this.issues = options.issues
    this.reason = options.reason
    this.headers = options.headers ?? {}
  }
}
