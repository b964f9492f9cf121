/**
 * Templates, channels and suppressions in the dashboard: the endpoints of the API, and those that only its pages need.
 */
import { Type } from '@sinclair/typebox'
import { listUses } from '../../../../messages/templates/list-uses.ts'
import { RequestError } from '../../../../errors.ts'
import { faultOf } from '../../../../rules/faults.ts'
import { type DashboardRoute, businessRoute } from '../../../access/authenticate-session.ts'
import type { Principal } from '../../../access/principal.ts'
import type { AppContext, Reply, RequestContext } from '../../../app-context.ts'
import { queryOf } from '../../../http/read-page.ts'
import { type BusinessEndpoint, toMemberRoute } from '../../business-endpoint.ts'
import { channelEndpoints } from '../../channels/endpoints.ts'
import { closed, uuid } from '../../reply-fields.ts'
import { senderEndpoints } from '../../senders/endpoints.ts'
import { suppressionEndpoints } from '../../suppressions/endpoints.ts'
import { templateEndpoints } from '../../templates/endpoints.ts'
import { requireTemplate } from '../../templates/manage.ts'
import { renderPreview } from '../../templates/preview.ts'
import { htmlDocument } from '../html-document.ts'
import { MEMBER_ERRORS } from '../people/session.ts'

const USES = 'The campaigns that name the templates.'
/** More than a page shows. */
const MAX_USES = 5000

async function getUses({ sql }: AppContext, _: RequestContext, { business }: Principal): Promise<Reply> {
  return { message: USES, data: { uses: await listUses(sql, business.id, MAX_USES) } }
}

/** Takes `contactId` and `language` like the preview. Answers 404 when the message has no HTML. */
async function getHtml(app: AppContext, context: RequestContext, principal: Principal): Promise<Response> {
  const template = await requireTemplate(app, context, principal)
  const query = queryOf(context)
  const [contactId, language] = [query.get('contactId'), query.get('language')]
  const { html } = await renderPreview(app, context, principal.business, template, {
    ...(contactId !== null && { contactId }),
    ...(language !== null && { language }),
  })
  if (html === undefined) throw new RequestError('not_found', { reason: faultOf('', 'no_html') })
  return htmlDocument(html)
}

const UsesData = Type.Object(
  { uses: Type.Array(Type.Object({ templateId: uuid, campaignId: uuid, name: Type.String() }, closed)) },
  closed,
)

/** Hides texts of templates, and addresses in the settings of channels, but not of senders, from people who may only see lists. */
const isShownToAll = ({ method, path }: BusinessEndpoint): boolean =>
  method === 'GET' && (path === '/templates' || path.startsWith('/senders'))
const withTexts = (endpoint: BusinessEndpoint): BusinessEndpoint =>
  endpoint.permission === 'lists:read' && !isShownToAll(endpoint)
    ? { ...endpoint, permission: 'contacts:read' }
    : endpoint

/**
 * Requires a recent proof of identity for changes to where messages are sent, and to whom none are sent: they are as
 * dangerous as changes to a destination.
 */
function guarded(endpoint: BusinessEndpoint): DashboardRoute {
  if (endpoint.permission !== 'destinations:write') return toMemberRoute(endpoint)
  return toMemberRoute({ ...endpoint, errors: [...endpoint.errors, 'confirmation_required'], isDangerous: true })
}

export const templateAndChannelRoutes: readonly DashboardRoute[] = [
  ...[...templateEndpoints, ...channelEndpoints, ...senderEndpoints].map(withTexts).map(guarded),
  ...suppressionEndpoints.map(guarded),
  businessRoute({
    method: 'GET',
    path: '/template-uses',
    permission: 'lists:read',
    cost: 'costly',
    handler: getUses,
    operation: {
      summary: 'List which campaigns name which templates',
      description: 'Without archived ones: those that keep a template from being deleted.',
      tag: 'Messages',
      key: 'session',
      replies: { 200: { message: USES, description: 'The oldest campaign first.', data: UsesData } },
      errors: MEMBER_ERRORS,
    },
  }),
  businessRoute({
    method: 'GET',
    path: '/templates/:templateId/html',
    permission: 'contacts:read',
    handler: getHtml,
    // The answer is a document, without the envelope.
    operation: null,
  }),
]
