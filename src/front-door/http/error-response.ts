/** The one place where a refusal or a fault becomes an answer. */
import { RequestError } from '../../errors.ts'
import type { RequestContext, AppContext } from '../app-context.ts'
import { refundCharges } from '../access/charge.ts'
import { describeStoreTrouble } from '../health/describe-store-failure.ts'

/** 401, 403 and 429 cost the caller nothing (decisions, "Rate limit"). */
const FREE = new Set([401, 403, 429])

/** Every 503 says when to try again, in seconds. */
const SOON = { 'Retry-After': '1' }

export async function errorResponse(app: AppContext, context: RequestContext, error: unknown): Promise<Response> {
  const rejectionCode = toRequestError(error, context)
  context.rejectionCode = rejectionCode.code
  report(app, context, rejectionCode)
  if (FREE.has(rejectionCode.status)) await refundCharges(app, context)
  return toResponse(rejectionCode, context)
}

function toRequestError(error: unknown, { request }: RequestContext): RequestError {
  if (error instanceof RequestError) return error
  return describeStoreTrouble(error, request) ?? new RequestError('internal', { cause: error })
}

function report(app: AppContext, context: RequestContext, rejectionCode: RequestError): void {
  const { requestId, businessId } = context
  const line = { requestId, code: rejectionCode.code, ...(businessId && { businessId }), err: rejectionCode.cause }
  if (rejectionCode.code === 'internal') app.log.error(line, 'a request failed')
  else if (rejectionCode.status >= 500 && rejectionCode.cause !== undefined && app.mayLogRejection()) {
    app.log.warn(line, 'a request could not be taken')
  }
}

function toResponse({ status, code, message, issues, headers }: RequestError, context: RequestContext): Response {
  const error = issues === undefined ? { code } : { code, issues }
  const sent = { ...(status === 503 && SOON), ...context.headers, ...headers }
  return Response.json({ success: false, message, error }, { status, headers: sent })
}
