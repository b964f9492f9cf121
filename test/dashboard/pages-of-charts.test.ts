// @pages
import { it } from 'vitest'
import { checkPage } from './check-page.ts'
import { useFilledBusiness } from './filled-business.ts'
import { SHOWN_CHARTS } from './shown-charts.ts'

useFilledBusiness()

it.each(SHOWN_CHARTS)('$name, light and dark, narrow and wide', checkPage)
