import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { businessRoute } from '../../routes/app.tsx'
import { STAGES, type Stage } from './show-contact.ts'
import { loadTexts } from '../../texts/index.ts'

/** The filters of the list: they are in the URL. */
export interface ContactSearch {
  query?: string
  stage?: Stage
  tag?: string
}

const readText = (value: unknown) => (typeof value === 'string' && value !== '' ? value.slice(0, 256) : undefined)

function readSearch(search: Record<string, unknown>): ContactSearch {
  const [query, tag] = [readText(search['query']), readText(search['tag'])]
  const stage = STAGES.find((one) => one === search['stage'])
  return { ...(query && { query }), ...(stage && { stage }), ...(tag && { tag }) }
}

export const contactsRoute = createRoute({
  getParentRoute: () => businessRoute,
  path: '/dashboard/b/$businessId/contacts',
  validateSearch: readSearch,
  loader: () => loadTexts('contacts'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'ContactsPage'),
})
