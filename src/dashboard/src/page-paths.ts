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
  '/dashboard/b/$businessId/contacts',
  '/dashboard/b/$businessId/contacts/$contactId',
  '/dashboard/b/$businessId/live',
  '/dashboard/b/$businessId/custom-fields',
  '/dashboard/b/$businessId/settings/keys',
  '/dashboard/b/$businessId/settings/business',
  '/dashboard/b/$businessId/settings/people',
  '/dashboard/b/$businessId/settings/audit',
] as const

export type PagePath = (typeof PAGE_PATHS)[number]
