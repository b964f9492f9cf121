/** How the search parameters of pages are read, by the page's path. Pages that are not listed have none. */
import { readSignIn } from './features/account/sign-in/search.ts'
import { readAttribution } from './features/analytics/attribution/search.ts'
import {
  readEvents,
  readFunnel,
  readLifecycle,
  readRange,
  readRetention,
  readRevenue,
  readWeb,
} from './features/analytics/search.ts'
import { readBoard } from './features/boards/search.ts'
import { readCampaign } from './features/campaigns/search.ts'
import { readContacts, readTimeline } from './features/contacts/search.ts'
import { readFields } from './features/data/custom-fields/search.ts'
import { readFilter } from './features/data/live/search.ts'
import { readSql } from './features/data/sql/search.ts'
import { readDeliveries } from './features/deliveries/search.ts'
import { readReference } from './features/reference/search.ts'
import { readEditor } from './features/rules/editor-search.ts'
import { readSegment } from './features/segments/search.ts'
import { readChannels } from './features/settings/channels/search.ts'
import { readTemplates } from './features/templates/search.ts'
import type { PagePath } from './pages.ts'

type Reader = (search: Record<string, unknown>) => object

export const SEARCHES = {
  '/dashboard/sign-in': readSignIn,
  '/dashboard/reference': readReference,
  '/dashboard/b/$businessId/contacts': readContacts,
  '/dashboard/b/$businessId/contacts/$contactId': readTimeline,
  '/dashboard/b/$businessId/segments/new': readEditor,
  '/dashboard/b/$businessId/segments/$segmentId': readSegment,
  '/dashboard/b/$businessId/segments/$segmentId/edit': readEditor,
  '/dashboard/b/$businessId/campaigns/new': readEditor,
  '/dashboard/b/$businessId/campaigns/$campaignId': readCampaign,
  '/dashboard/b/$businessId/campaigns/$campaignId/edit': readEditor,
  '/dashboard/b/$businessId/templates': readTemplates,
  '/dashboard/b/$businessId/custom-fields': readFields,
  '/dashboard/b/$businessId/analytics': readEvents,
  '/dashboard/b/$businessId/analytics/funnel': readFunnel,
  '/dashboard/b/$businessId/analytics/retention': readRetention,
  '/dashboard/b/$businessId/analytics/revenue': readRevenue,
  '/dashboard/b/$businessId/analytics/attribution': readAttribution,
  '/dashboard/b/$businessId/analytics/lifecycle': readLifecycle,
  '/dashboard/b/$businessId/analytics/stages': readRange,
  '/dashboard/b/$businessId/analytics/web': readWeb,
  '/dashboard/b/$businessId/analytics/engagement': readRange,
  '/dashboard/b/$businessId/analytics/audience': readRange,
  '/dashboard/b/$businessId/boards/$boardId': readBoard,
  '/dashboard/b/$businessId/sql': readSql,
  '/dashboard/b/$businessId/live': readFilter,
  '/dashboard/b/$businessId/deliveries': readDeliveries,
  '/dashboard/b/$businessId/settings/channels': readChannels,
} satisfies Partial<Record<PagePath, Reader>>

export type Searches = typeof SEARCHES
