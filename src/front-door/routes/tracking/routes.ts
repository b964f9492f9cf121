/** `/c/{token}` redirects to a link of a mail. `/o/{token}` is the image that shows that a mail was opened. */
import { RequestError } from '../../../errors.ts'
import { loadMessageKey } from '../../../messages/message-key.ts'
import { type TrackedMessage, readLinkToken, readOpenToken } from '../../../messages/tracking/token.ts'
import { chargeForgedLink } from '../../access/charge.ts'
import type { AppContext, RequestContext, Route } from '../../app-context.ts'
import { withPages } from '../unsubscribe/routes.ts'
import { isMachine } from './is-machine.ts'

/** The answers must not be indexed, and must not reveal the token. All answers of the front door forbid caching. */
const HEADERS = { 'Referrer-Policy': 'no-referrer', 'X-Robots-Tag': 'noindex, nofollow' }

/** Waits for neither Redis nor a worker: people must reach the page even while those are down. */
async function followLink(app: AppContext, context: RequestContext): Promise<Response> {
  const link = readLinkToken(await loadMessageKey(app.quick), context.params['token'] ?? '')
  if (link === null) throw await refuse(app, context)
  const { target, ...message } = link
  note(app, context, message, target)
  return new Response(null, { status: 302, headers: { ...HEADERS, Location: target } })
}

/** A transparent image of one pixel. */
const IMAGE = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')

async function showImage(app: AppContext, context: RequestContext): Promise<Response> {
  const message = readOpenToken(await loadMessageKey(app.quick), context.params['token'] ?? '')
  if (message === null) throw await refuse(app, context)
  note(app, context, message, null)
  return new Response(IMAGE, { headers: { ...HEADERS, 'Content-Type': 'image/gif' } })
}

function note(app: AppContext, context: RequestContext, message: TrackedMessage, target: string | null): void {
  const { request, requestId, receivedAt: at } = context
  context.businessId = message.businessId
  // Programs use HEAD to see where a link leads.
  const visited = target === null ? 'image' : 'link'
  if (request.method === 'GET' && !isMachine(request.headers, visited))
    app.visits.note({ ...message, target, at, requestId })
}

/** Throws RequestError `rate_limited`. */
async function refuse(app: AppContext, context: RequestContext): Promise<RequestError> {
  await chargeForgedLink(app, context)
  return new RequestError('not_found')
}

export const trackingRoutes: readonly Route[] = [
  { method: 'GET', path: '/c/:token', answer: withPages(followLink), operation: null },
  { method: 'GET', path: '/o/:token', answer: showImage, operation: null },
]
