/**
 * The paths of all pages: the front door answers each with the page, and the router shows what belongs there. The types of
 * router.tsx hold its routes to this list.
 */
export const PAGE_PATHS = [
  '/dashboard',
  '/dashboard/sign-in',
  '/dashboard/forgot',
  '/dashboard/link',
  '/dashboard/account',
  '/dashboard/reference',
  '/dashboard/operations',
  '/dashboard/b/$businessId',
  '/dashboard/b/$businessId/contacts',
  '/dashboard/b/$businessId/contacts/$contactId',
  '/dashboard/b/$businessId/segments',
  '/dashboard/b/$businessId/segments/new',
  '/dashboard/b/$businessId/segments/$segmentId',
  '/dashboard/b/$businessId/segments/$segmentId/edit',
  '/dashboard/b/$businessId/campaigns',
  '/dashboard/b/$businessId/campaigns/new',
  '/dashboard/b/$businessId/campaigns/$campaignId',
  '/dashboard/b/$businessId/campaigns/$campaignId/edit',
  '/dashboard/b/$businessId/analytics',
  '/dashboard/b/$businessId/analytics/funnel',
  '/dashboard/b/$businessId/analytics/retention',
  '/dashboard/b/$businessId/analytics/revenue',
  '/dashboard/b/$businessId/sql',
  '/dashboard/b/$businessId/templates',
  '/dashboard/b/$businessId/templates/new',
  '/dashboard/b/$businessId/templates/$templateId',
  '/dashboard/b/$businessId/live',
  '/dashboard/b/$businessId/custom-fields',
  '/dashboard/b/$businessId/imports',
  '/dashboard/b/$businessId/deliveries',
  '/dashboard/b/$businessId/settings/keys',
  '/dashboard/b/$businessId/settings/business',
  '/dashboard/b/$businessId/settings/channels',
  '/dashboard/b/$businessId/settings/suppressions',
  '/dashboard/b/$businessId/settings/people',
  '/dashboard/b/$businessId/settings/audit',
] as const

export type PagePath = (typeof PAGE_PATHS)[number]
