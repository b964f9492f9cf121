import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { businessRoute } from '../../routes/app.tsx'
import { loadTexts } from '../../texts/index.ts'
import { CHANNELS, type Channel } from './fields.ts'

export interface TemplatesSearch {
  /** Part of the name. */
  query?: string
  channel?: Channel
}

function readSearch({ query, channel }: Record<string, unknown>): TemplatesSearch {
  const known = CHANNELS.find((one) => one === channel)
  return {
    ...(typeof query === 'string' && query !== '' && { query }),
    ...(known && { channel: known }),
  }
}

export const templatesRoute = createRoute({
  getParentRoute: () => businessRoute,
  path: '/dashboard/b/$businessId/templates',
  validateSearch: readSearch,
  loader: () => loadTexts('templates', 'campaigns'),
  component: lazyRouteComponent(() => import('./list/page.tsx'), 'TemplatesPage'),
})

const common = {
  getParentRoute: () => businessRoute,
  loader: () => loadTexts('templates', 'campaigns', 'segments', 'drafts', 'test-send'),
}
const load = () => import('./edit/page.tsx')

export const newTemplateRoute = createRoute({
  ...common,
  path: '/dashboard/b/$businessId/templates/new',
  component: lazyRouteComponent(load, 'NewTemplatePage'),
})

export const templateRoute = createRoute({
  ...common,
  path: '/dashboard/b/$businessId/templates/$templateId',
  component: lazyRouteComponent(load, 'TemplatePage'),
})
