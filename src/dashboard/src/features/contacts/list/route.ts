import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { businessRoute } from '../../../routes/app.tsx'
import { STAGES, type Stage } from '../show-contact.ts'
import { loadTexts } from '../../../texts/index.ts'

/** Filters of the list, which are in the URL. */
export interface ContactSearch {
  query?: string | undefined
  stage?: Stage | undefined
  tag?: string | undefined
  /** ID of a segment: lists its members. */
  segment?: string | undefined
  /** Key of a custom field. */
  field?: string | undefined
  /** Value of that custom field. */
  value?: string | undefined
}

/** The router parses text that looks like a number or a boolean into one. */
function readText(value: unknown): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return undefined
  return String(value).slice(0, 256) || undefined
}

function readSearch(search: Record<string, unknown>): ContactSearch {
  const [query, tag, segment, field, value] = ['query', 'tag', 'segment', 'field', 'value'].map((name) =>
    readText(search[name]),
  )
  const stage = STAGES.find((one) => one === search['stage'])
  return {
    ...(query && { query }),
    ...(stage && { stage }),
    ...(tag && { tag }),
    ...(segment && { segment }),
    ...(field && { field, ...(value && { value }) }),
  }
}

export const contactsRoute = createRoute({
  getParentRoute: () => businessRoute,
  path: '/dashboard/b/$businessId/contacts',
  validateSearch: readSearch,
  loader: () => loadTexts('contacts'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'ContactsPage'),
})
