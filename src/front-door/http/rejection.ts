/**
 * Why a body, or one item of a batch, is rejected. It is a value, not an exception, since the other items of a batch
 * are still accepted.
 */
import { ERRORS, type ErrorCode, type Issue, RequestError } from '../../errors.ts'
import { summarise } from './check-body.ts'
import { trimText } from '../../rules/events/text.ts'
import type { Business } from '../../businesses/find-business.ts'
import { isRecord } from '../../rules/is-record.ts'

export interface Rejection {
  code: ErrorCode
  /** Message for people; names the field. */
  message: string
  issues?: readonly Issue[]
}

export function reject(code: ErrorCode, issues?: readonly Issue[]): Rejection {
  return issues === undefined ? { code, message: ERRORS[code].message } : { code, message: summarise(issues), issues }
}

/**
 * Rejects an identity without a usable field. Those of the body's warnings that are about the identity say why; the
 * message repeats them, since an item of a batch has no issues.
 */
export function rejectIdentity(warnings: readonly string[]): Rejection {
  const rejection = reject('identity_required')
  const reasons = warnings.filter((warning) => warning.startsWith('identity.'))
  if (reasons.length === 0) return rejection
  return { ...rejection, message: `${rejection.message} ${reasons.join('; ')}`, issues: reasons.map(issueOfIgnored) }
}

/** Returns the issue of a warning, which begins with the field that was ignored. */
export function issueOfIgnored(message: string): Issue {
  const [path = ''] = message.split(' was ignored', 1)
  return { path, message }
}

/** Returns the rejection of a body with the wrong shape. A body that lacks only its identity has its own code. */
export function rejectShape(issues: readonly Issue[]): Rejection {
  const [only] = issues
  const isMissingIdentity = issues.length === 1 && only?.path === 'identity' && only.message === 'identity is required'
  return isMissingIdentity ? reject('identity_required') : reject('invalid_request', issues)
}

/**
 * Rejects a body whose `businessId` is not that of the caller. It is only a cross-check, and never corrected (contract,
 * "Authentication").
 */
export function rejectOtherBusiness(raw: unknown, business: Business): Rejection | null {
  const sent = isRecord(raw) ? raw['businessId'] : undefined
  const differs = typeof sent === 'string' && trimText(sent).toLowerCase() !== business.id
  return differs ? reject('business_mismatch') : null
}

export function toRequestError({ code, message, issues }: Rejection): RequestError {
  return new RequestError(code, issues === undefined ? { message } : { message, issues })
}
