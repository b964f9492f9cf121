/** The API of the dashboard. Each area contributes its routes; a second OpenAPI document describes them. */
import type { DashboardRoute } from '../../access/authenticate-session.ts'
import { describeApi } from '../../openapi/describe-api.ts'
import { accountRoutes } from './people/account.ts'
import { contactRoutes } from './contacts/contact.ts'
import { contactListRoutes } from './contacts/contacts.ts'
import { contactNameRoutes } from './contacts/contact-names.ts'
import { customFieldRoutes } from './contacts/custom-fields.ts'
import { deliveryRoutes } from './settings/deliveries.ts'
import { demoRoutes } from './operations/demo.ts'
import { destinationRoutes } from './settings/destinations.ts'
import { homeRoutes } from './home.ts'
import { auditRoutes } from './people/audit.ts'
import { boardRoutes } from './boards/boards.ts'
import { businessRoutes } from './settings/business.ts'
import { keyRoutes } from './settings/keys.ts'
import { importRoutes } from './imports/imports.ts'
import { operationsRoutes } from './operations/operations.ts'
import { peopleRoutes } from './people/people.ts'
import { linkRoutes } from './people/links.ts'
import { memberExportRoutes } from './contacts/member-export.ts'
import { messageRoutes } from './messages.ts'
import { templateAndChannelRoutes } from './settings/templates-and-channels.ts'
import { requestRoutes } from './operations/requests.ts'
import { segmentDashboardRoutes } from './segments.ts'
import { sessionRoutes } from './people/session.ts'
import { sqlRoutes } from './sql.ts'
import { verifyRoutes } from './operations/verify.ts'
import { toMemberRoute } from '../business-endpoint.ts'
import { spendEndpoints } from '../spend/endpoints.ts'
import { chartProgressRoutes } from './boards/chart-progress.ts'
import { spendFileRoutes } from './imports/spend-file.ts'
import { analyticsEndpoints } from '../analytics/endpoints.ts'
import { campaignEndpoints } from '../campaigns/endpoints.ts'
import { messagingEndpoints } from '../messaging/endpoints.ts'
import { contactTopicEndpoints } from '../contacts/topics.ts'
import { topicEndpoints } from '../topics/endpoints.ts'

const ROUTES: readonly DashboardRoute[] = [
  ...sessionRoutes,
  ...linkRoutes,
  ...accountRoutes,
  ...contactListRoutes,
  ...contactNameRoutes,
  ...contactRoutes,
  ...customFieldRoutes,
  ...segmentDashboardRoutes,
  ...campaignEndpoints.map(toMemberRoute),
  ...messagingEndpoints.map(toMemberRoute),
  ...topicEndpoints.map(toMemberRoute),
  ...contactTopicEndpoints.map(toMemberRoute),
  ...messageRoutes,
  ...templateAndChannelRoutes,
  ...memberExportRoutes,
  ...destinationRoutes,
  ...deliveryRoutes,
  ...homeRoutes,
  ...analyticsEndpoints.map(toMemberRoute),
  ...spendEndpoints.map(toMemberRoute),
  ...chartProgressRoutes,
  ...spendFileRoutes,
  ...demoRoutes,
  ...requestRoutes,
  ...keyRoutes,
  ...businessRoutes,
  ...peopleRoutes,
  ...auditRoutes,
  ...importRoutes,
  ...sqlRoutes,
  ...boardRoutes,
  ...operationsRoutes,
  ...verifyRoutes,
]

/** The types of the pages are generated from it (src/dashboard/src/api.d.ts). */
export const DASHBOARD_DESCRIPTION = describeApi(
  ROUTES,
  'The API of the dashboard. It takes the cookie of a session, and no API key.',
)

const descriptionRoute: DashboardRoute = {
  method: 'GET',
  path: '/dashboard/api/openapi.json',
  access: 'anybody',
  answer: () => Promise.resolve(Response.json(DASHBOARD_DESCRIPTION)),
  operation: null,
}

export const DASHBOARD_ROUTES: readonly DashboardRoute[] = [...ROUTES, descriptionRoute]
