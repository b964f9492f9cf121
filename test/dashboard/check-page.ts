/**
 * A page, light and dark, narrow and wide: axe finds no barriers, nothing scrolls sideways, and the console has no
 * errors. `bun test/dashboard/screenshots.ts FOLDER` also keeps a screenshot of each.
 */
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { dashboard } from './filled-business.ts'
import { COLORS, endAnimations, findBarriers, SIZES, settle, type Visit } from './open-dashboard.ts'

export interface Shown extends Visit {
  name: string
  /** One of PAGE_PATHS with its parameters filled in, and with a query if it needs one. */
  path: () => string
  /** Opens the part to be checked. */
  open?: (page: Page) => Promise<void>
  isPolling?: boolean
}

const WIDTHS = [360, 1280, 2560]

/** One check of a page. By default, only by the rules of axe whose findings depend on theme and width. */
interface Look {
  theme: 'light' | 'dark'
  width: number
  rules?: Parameters<typeof findBarriers>[1]
}
const APPEARANCE = { only: [...COLORS, ...SIZES] }
/** Both themes and all widths. Sizes do not depend on the theme. */
const LOOKS: Look[] = [
  { theme: 'light', width: 360, rules: {} },
  { theme: 'dark', width: 360, rules: { only: COLORS } },
  { theme: 'dark', width: 1280, rules: {} },
  { theme: 'light', width: 2560 },
]
/** The checks that another language may change. Colors do not depend on it. */
const LOOKS_AT_WORDS: Look[] = [
  { theme: 'light', width: 360, rules: { without: COLORS } },
  { theme: 'dark', width: 1280, rules: { only: SIZES } },
]
/** For screenshots. */
const PICTURES: Look[] = WIDTHS.flatMap((width) => (['light', 'dark'] as const).map((theme) => ({ theme, width })))
const FOLDER = process.env['SCREENSHOTS']

/** Opens the page once: its window changes size and theme while it is open. */
export async function checkPage({ name, path, open, isPolling, ...visit }: Shown): Promise<void> {
  const page = await dashboard.visit(path(), { ...visit, width: WIDTHS[0] })
  await settle(page, isPolling)
  expect(await layoutShift(page), name).toBeLessThan(MAX_SHIFT)
  await open?.(page)
  const looks = visit.language === undefined || visit.language === 'en' ? LOOKS : LOOKS_AT_WORDS
  for (const { theme, width, rules = APPEARANCE } of FOLDER === undefined ? looks : PICTURES) {
    await page.setViewportSize({ width, height: 800 })
    await page.emulateMedia({ colorScheme: theme })
    await endAnimations(page)
    const shown = `${name}-${theme}-${width}`
    // An opened part covers the window; a page may be longer than the window.
    if (FOLDER !== undefined) {
      await page.screenshot({ path: join(FOLDER, `${shown}.png`), fullPage: open === undefined })
    }
    expect(await findBarriers(page, rules), shown).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), shown).toBeLessThanOrEqual(0)
    expect(dashboard.complaints.splice(0), shown).toEqual([])
  }
}

/** Too little for a reader to see: half of what counts as good (web.dev/cls). */
const MAX_SHIFT = 0.05

/** Returns how far painted parts have moved since without the reader having caused it. */
const layoutShift = (page: Page): Promise<number> =>
  page.evaluate<number>(`new Promise((resolve) => {
    let sum = 0
    const add = (list) => { for (const one of list.getEntries()) if (!one.hadRecentInput) sum += one.value }
    new PerformanceObserver(add).observe({ type: 'layout-shift', buffered: true })
    setTimeout(() => resolve(sum), 100)
  })`)
