/** The API of the dashboard. Each area contributes its routes; a second OpenAPI document describes them. */
import type { DashboardRoute } from '../../access/authenticate-session.ts'
import { describeApi } from '../../openapi/describe-api.ts'
import { accountRoutes } from './account.ts'
import { contactRoutes } from './contact.ts'
import { contactListRoutes } from './contacts.ts'
import { contactNameRoutes } from './contact-names.ts'
import { customFieldRoutes } from './custom-fields.ts'
import { deliveryRoutes } from './deliveries.ts'
import { demoRoutes } from './demo.ts'
import { destinationRoutes } from './destinations.ts'
import { homeRoutes } from './home.ts'
import { auditRoutes } from './audit.ts'
import { boardRoutes } from './boards.ts'
import { businessRoutes } from './business.ts'
import { keyRoutes } from './keys.ts'
import { importRoutes } from './imports.ts'
import { operationsRoutes } from './operations.ts'
import { peopleRoutes } from './people.ts'
import { linkRoutes } from './links.ts'
import { memberExportRoutes } from './member-export.ts'
import { messageRoutes } from './messages.ts'
import { messagingRoutes } from './messaging.ts'
import { requestRoutes } from './requests.ts'
import { segmentDashboardRoutes } from './segments.ts'
import { sessionRoutes } from './session.ts'
import { sqlRoutes } from './sql.ts'
import { verifyRoutes } from './verify.ts'
import { toMemberRoute } from '../business-endpoint.ts'
import { spendEndpoints } from '../spend/endpoints.ts'
import { chartProgressRoutes } from './chart-progress.ts'
import { spendFileRoutes } from './spend-file.ts'
import { analyticsEndpoints } from '../analytics/endpoints.ts'
import { campaignEndpoints } from '../campaigns/endpoints.ts'
import { messagingEndpoints } from '../messaging/endpoints.ts'

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
  ...messageRoutes,
  ...messagingRoutes,
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
