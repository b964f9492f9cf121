// @pages
import { expect, it } from 'vitest'
import { PAGE_PATHS } from '../../src/dashboard/src/pages.ts'
import { checkPage } from './check-page.ts'
import { useFilledBusiness } from './filled-business.ts'
import { SHOWN_CHARTS } from './shown-charts.ts'
import { SHOWN } from './shown-pages.ts'

useFilledBusiness()

it.each(SHOWN)('$name, light and dark, narrow and wide', checkPage)

it('all pages are among them', () => {
  const paths = [...SHOWN, ...SHOWN_CHARTS].map(({ path }) => path().split('?')[0] ?? '')
  const missing = PAGE_PATHS.filter((pattern) => {
    const parts = pattern.split('/')
    return !paths.some((path) => {
      const given = path.split('/')
      return given.length === parts.length && parts.every((part, at) => part.startsWith('$') || part === given[at])
    })
  })
  // This one leads to another page.
  expect(missing).toEqual(['/dashboard'])
})
