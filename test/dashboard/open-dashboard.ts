/** The dashboard of a whole service in a real Chromium, with a person signed in. */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { Browser, Page } from 'playwright-core'
import { onTestFinished } from 'vitest'
import type { Role } from '../../src/accounts/rights.ts'
import { openHeadlessShell } from '../sdk/browser/open-chromium.ts'
import { makeAnalystFolder } from '../support/analyst-engine.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { openService, type Service } from '../support/service.ts'
import { type StackOptions, createBusiness } from '../support/stack.ts'
import { addUser, signIn } from './session-client.ts'

export interface Visit {
  /** Null: nobody is signed in. Default: `owner@x.io`. */
  email?: string | null
  theme?: 'light' | 'dark'
  width?: number
  height?: number
  language?: 'en' | 'de' | 'he'
}

export interface Dashboard {
  service: Service
  browser: Browser
  /** Has one user of each role: `owner@x.io`, `marketer@x.io`, `analyst@x.io`, `read-only@x.io`; and `operator@x.io`. */
  businessId: string
  /**
   * Opens a page in a new browser profile, which is closed after the test. Its errors, and the scripts and styles that it
   * refuses, are added to `complaints`.
   */
  visit(path: string, visit?: Visit): Promise<Page>
  complaints: string[]
  close(): Promise<void>
}

const ROLES: readonly Role[] = ['owner', 'marketer', 'analyst', 'read-only']

export async function openDashboard(
  environment: Record<string, string> = {},
  options: StackOptions = {},
): Promise<Dashboard> {
  const secretsKey = randomBytes(32).toString('hex')
  const folder = await makeAnalystFolder()
  const service = await openService({ SECRETS_KEY: secretsKey, DATA_DIR: folder, ...environment }, options)
  const { businessId } = await createBusiness(service.sql, { name: 'Corner Shop' })
  for (const role of ROLES) await addUser(service.sql, `${role}@x.io`, { businessId, role })
  await addUser(service.sql, 'operator@x.io', { isOperator: true })
  const browser = await openHeadlessShell()
  const complaints: string[] = []
  return {
    service,
    browser,
    businessId,
    complaints,
    async visit(path, { email = 'owner@x.io', theme = 'light', width = 1280, height = 800, language = 'en' } = {}) {
      const context = await browser.newContext({
        viewport: { width, height },
        locale: language,
        colorScheme: theme,
        reducedMotion: 'reduce',
      })
      onTestFinished(() => context.close())
      context.setDefaultTimeout(PATIENCE_MS)
      if (email !== null) await context.addCookies([{ ...(await cookieOf(service, email)), url: service.url }])
      const page = await context.newPage()
      hearComplaints(page, complaints)
      await page.goto(service.url + path)
      return page
    },
    async close() {
      await browser.close()
      await service.close()
      await rm(folder, { recursive: true })
    },
  }
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

/** The rules of axe whose findings depend on the theme or the width of a page. */
export const APPEARANCE = ['color-contrast', 'link-in-text-block', 'scrollable-region-focusable', 'target-size']

/**
 * Returns what axe finds, as `rule: element`, by all of its rules or by those given. It is loaded by the debugger, to which
 * the page's policy does not apply.
 */
export async function findBarriers(page: Page, rules: readonly string[] = TAGS): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(AXE)
  return page.evaluate<
    string[]
  >(`axe.run(document, { runOnly: ${JSON.stringify(rules)}, resultTypes: ["violations"] }).then(({ violations }) =>
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
