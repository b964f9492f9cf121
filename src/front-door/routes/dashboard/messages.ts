/** Messages of campaigns in the dashboard: the endpoints of the API, and the HTML of a message for a frame. */
import { readMessage, renderAgain } from '../../../campaigns/read-messages.ts'
import { type DashboardRoute, businessRoute } from '../../access/authenticate-session.ts'
import type { Principal } from '../../access/principal.ts'
import type { AppContext, RequestContext } from '../../app-context.ts'
import { toMemberRoute } from '../business-endpoint.ts'
import { messageEndpoints } from '../messages/endpoints.ts'
import { htmlDocument } from './html-document.ts'
import { messageNotFound, requireMessageId } from '../messages/handlers.ts'

/** Answers 404 when there is no HTML, or no longer any. */
async function getHtml(app: AppContext, context: RequestContext, { business }: Principal): Promise<Response> {
  const messageId = requireMessageId(context)
  const message = await readMessage(app.sql, business.id, messageId)
  const rendering = message && (await renderAgain(app.sql, app.renderer, business.id, messageId))
  if (rendering?.html === undefined) throw messageNotFound()
  return htmlDocument(rendering.html)
}

export const messageRoutes: readonly DashboardRoute[] = [
  ...messageEndpoints.map(toMemberRoute),
  businessRoute({
    method: 'GET',
    path: '/messages/:messageId/html',
    permission: 'contacts:read',
    handler: getHtml,
    // The answer is a document, without the envelope.
    operation: null,
  }),
]
