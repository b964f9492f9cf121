/** The dashboard of a whole service in a real Chromium, with a person signed in. */
import { readFileSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { onTestFinished } from 'vitest'
import type { Role } from '../../src/accounts/rights.ts'
import type { Service } from '../support/service.ts'
import { type StackOptions, createBusiness } from '../support/stack.ts'
import { addUser, signIn } from './session-client.ts'
import { type Installation, emptyShared, openInstallation, takeShared } from './shared-installation.ts'

export interface Visit {
  /** Null: nobody is signed in. Default: `owner@x.io`. */
  email?: string | null
  theme?: 'light' | 'dark'
  width?: number
  height?: number
  language?: 'en' | 'de' | 'he'
  /** The test changes the profile in a way that cannot be undone, as by `addInitScript`. */
  isChanged?: boolean
}

export interface Dashboard {
  service: Service
  browser: Browser
  /** Has one user of each role: `owner@x.io`, `marketer@x.io`, `analyst@x.io`, `read-only@x.io`; and `operator@x.io`. */
  businessId: string
  /**
   * Opens a page in an empty browser profile, for the duration of the test. Its errors, and the scripts and styles that
   * it refuses, are added to `complaints`.
   */
  visit(path: string, visit?: Visit): Promise<Page>
  complaints: string[]
  close(): Promise<void>
}

const ROLES: readonly Role[] = ['owner', 'marketer', 'analyst', 'read-only']

/**
 * With an environment or options, the service is one of its own. Otherwise the files of a worker share it, one after the
 * other: at the end, `close` removes the businesses and the users.
 */
export async function openDashboard(environment?: Record<string, string>, options?: StackOptions): Promise<Dashboard> {
  const shared = environment === undefined && options === undefined ? await takeShared() : undefined
  // Also before: a file whose set-up failed has left what it made.
  if (shared) await emptyShared(shared)
  const installation = shared ?? (await openInstallation(environment, options))
  const { service, browser } = installation
  const { businessId } = await createBusiness(service.sql, { name: 'Corner Shop' })
  for (const role of ROLES) await addUser(service.sql, `${role}@x.io`, { businessId, role })
  await addUser(service.sql, 'operator@x.io', { isOperator: true })
  const complaints: string[] = []
  return {
    service,
    browser,
    businessId,
    complaints,
    visit: (path, visit = {}) => openPage(installation, path, { complaints, visit }),
    close: () => (shared === undefined ? installation.close() : emptyShared(shared)),
  }
}

async function openPage(
  installation: Installation,
  path: string,
  { complaints, visit }: { complaints: string[]; visit: Visit },
): Promise<Page> {
  const { service, takeProfile, leaveProfile } = installation
  const { email = 'owner@x.io', theme = 'light', language = 'en', width = 1280, height = 800 } = visit
  const page = await takeProfile(language)
  const context = page.context()
  onTestFinished(({ task }) =>
    task.result?.state === 'fail' || visit.isChanged || context.pages().length !== 1
      ? context.close()
      : leaveProfile(page, language),
  )
  await page.setViewportSize({ width, height })
  await page.emulateMedia({ colorScheme: theme })
  if (email !== null) await context.addCookies([{ ...(await cookieOf(service, email)), url: service.url }])
  hearComplaints(page, complaints)
  await page.goto(service.url + path)
  return page
}

async function cookieOf(service: Service, email: string): Promise<{ name: string; value: string }> {
  const [name = '', value = ''] = (await signIn(service, email)).cookie().split('=')
  return { name, value }
}

/**
 * Ignores failed requests, which Chromium writes to the console: pages expect those. They do not expect refusals by their
 * own policy.
 */
function hearComplaints(page: Page, complaints: string[]): void {
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    const text = message.text()
    if (message.type() === 'error' && !text.startsWith('Failed to load resource')) complaints.push(text)
  })
}

const AXE = readFileSync(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8')
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

/** The rules of axe whose findings depend on the theme of a page. */
export const COLORS = ['color-contrast', 'link-in-text-block']
/** The rules of axe whose findings depend on the width of a page. */
export const SIZES = ['scrollable-region-focusable', 'target-size']

/**
 * Returns what axe finds, as `rule: element`, by all of its rules or by those given, without some. It is loaded by the
 * debugger, to which the page's policy does not apply.
 */
export async function findBarriers(
  page: Page,
  { only = TAGS, without = [] }: { only?: readonly string[]; without?: readonly string[] } = {},
): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(AXE)
  const options = {
    runOnly: only,
    rules: Object.fromEntries(without.map((rule) => [rule, { enabled: false }])),
    resultTypes: ['violations'],
    // No rule needs the styles.
    preload: { assets: ['media'] },
  }
  return page.evaluate<string[]>(`axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ target, failureSummary }) => id + ': ' + target + ' ' + failureSummary)))`)
}

/** Waits until nothing is loaded or animated any more, except by polling. */
export async function settle(page: Page, isPolling = false): Promise<void> {
  await page.waitForLoadState(isPolling ? 'load' : 'networkidle')
  // Not by a function in the page: repeating one needs `eval`, which the page's policy refuses.
  await page.locator('h1').first().waitFor()
  await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
  await endAnimations(page)
}

/** Waits until its field has the focus: letters that are typed earlier go to the page. */
export async function openPalette(page: Page): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Go to a page, or do something' }).and(page.locator(':focus')).waitFor()
}

/** Waits after a change of the page's size or theme, for which it loads nothing. */
export async function endAnimations(page: Page): Promise<void> {
  // On a busy machine, one frame can still have the text of the former theme.
  await page.evaluate(`new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))).then(() =>
    Promise.allSettled(document.getAnimations().map(({ finished }) => finished)))`)
}
