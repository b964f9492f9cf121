/** The one place where a refusal or a fault becomes an answer. */
import { RequestError } from '../../errors.ts'
import type { Call, Door } from '../app-context.ts'
import { refundCharges } from '../access/charge.ts'
import { describeStoreTrouble } from '../health/describe-store-failure.ts'

/** 401, 403 and 429 cost the caller nothing (decisions, "Rate limit"). */
const FREE = new Set([401, 403, 429])

/** Every 503 says when to try again, in seconds. */
const SOON = { 'Retry-After': '1' }

export async function answerError(door: Door, call: Call, error: unknown): Promise<Response> {
  const refusal = toRequestError(error, call)
  call.refusal = refusal.code
  report(door, call, refusal)
  if (FREE.has(refusal.status)) await refundCharges(door, call)
  return toResponse(refusal, call)
}

function toRequestError(error: unknown, { request }: Call): RequestError {
  if (error instanceof RequestError) return error
  return describeStoreTrouble(error, request) ?? new RequestError('internal', { cause: error })
}

function report(door: Door, call: Call, refusal: RequestError): void {
  const { requestId, businessId } = call
  const line = { requestId, code: refusal.code, ...(businessId && { businessId }), err: refusal.cause }
  if (refusal.code === 'internal') door.log.error(line, 'a request failed')
  else if (refusal.status >= 500 && refusal.cause !== undefined && door.mayTellRefusal()) {
    door.log.warn(line, 'a request could not be taken')
  }
}

function toResponse({ status, code, message, issues, headers }: RequestError, call: Call): Response {
  const error = issues === undefined ? { code } : { code, issues }
  const sent = { ...(status === 503 && SOON), ...call.headers, ...headers }
  return Response.json({ success: false, message, error }, { status, headers: sent })
}
