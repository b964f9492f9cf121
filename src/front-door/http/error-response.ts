/** Turns every error into an answer; no other file does. */
import { RequestError } from '../../errors.ts'
import { RendererBusy } from '../../messages/templates/renderer.ts'
import type { RequestContext, AppContext } from '../app-context.ts'
import { refundCharges } from '../access/charge.ts'
import { describeStoreFailure } from '../health/describe-store-failure.ts'
import { isForPage } from './is-for-page.ts'

/** Answers with these statuses are not charged (decisions, "Rate limit"). */
const UNCHARGED = new Set([401, 403, 429])

const RENDER_LATER = {
  message: 'Too many templates are being checked and rendered. Try again after the number of seconds in Retry-After.',
  headers: { 'Retry-After': '5' },
}

/** Every 503 says when to try again, in seconds. */
const RETRY_SOON = { 'Retry-After': '1' }

export async function errorResponse(app: AppContext, context: RequestContext, error: unknown): Promise<Response> {
  const rejection = toRequestError(error, context)
  context.rejectionCode = rejection.code
  context.rejection = rejection
  report(app, context, rejection)
  if (UNCHARGED.has(rejection.status)) await refundCharges(app, context)
  return toResponse(rejection, context)
}

function toRequestError(error: unknown, { request }: RequestContext): RequestError {
  if (error instanceof RequestError) return error
  if (error instanceof RendererBusy) return new RequestError('unavailable', RENDER_LATER)
  return describeStoreFailure(error, request) ?? new RequestError('internal', { cause: error })
}

function report(app: AppContext, context: RequestContext, rejection: RequestError): void {
  const { requestId, businessId } = context
  const line = { requestId, code: rejection.code, ...(businessId && { businessId }), err: rejection.cause }
  if (rejection.code === 'internal') app.log.error(line, 'a request failed')
  else if (rejection.status >= 500 && rejection.cause !== undefined && app.mayLogRejection()) {
    app.log.warn(line, 'a request could not be accepted')
  }
}

function toResponse(rejection: RequestError, context: RequestContext): Response {
  const { status, message, headers } = rejection
  const error = isForPage(context) ? withCodes(rejection) : withoutCodes(rejection)
  const sent = { ...(status === 503 && RETRY_SOON), ...context.headers, ...headers }
  return Response.json({ success: false, message, error }, { status, headers: sent })
}

const withCodes = ({ code, issues, reason }: RequestError) => ({
  code,
  ...(issues && { issues }),
  ...(reason && { reason: { code: reason.code, values: reason.values } }),
})

/** Outside the dashboard, issues have only a path and a message (decisions, "Envelope, errors, headers"). */
const withoutCodes = ({ code, issues }: RequestError) => ({
  code,
  ...(issues && { issues: issues.map(({ path, message }) => ({ path, message })) }),
})
