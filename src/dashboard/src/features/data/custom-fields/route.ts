import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { businessRoute } from '../../../routes/app.tsx'
import { loadTexts } from '../../../texts/index.ts'

export interface FieldSearch {
  /** Key of the field that is open. */
  field?: string
  /** Also lists hidden fields. */
  hidden?: true
}

function readSearch({ field, hidden }: Record<string, unknown>): FieldSearch {
  return {
    ...((typeof field === 'string' || typeof field === 'number') && field !== '' && { field: String(field) }),
    ...(hidden === true && { hidden }),
  }
}

export const customFieldsRoute = createRoute({
  getParentRoute: () => businessRoute,
  path: '/dashboard/b/$businessId/custom-fields',
  validateSearch: readSearch,
  loader: () => loadTexts('custom-fields'),
  component: lazyRouteComponent(() => import('./page.tsx'), 'CustomFieldsPage'),
})
