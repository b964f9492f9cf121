/**
 * Measures how fast pages of the dashboard appear in a real Chromium: the first one on a slow connection, and changes
 * between pages.
 */
import type { Browser, Page } from 'playwright-core'
import { openHeadlessShell } from '../sdk/browser/open-chromium.ts'

/**
 * A phone on a slow mobile network, throttled like in Lighthouse: 1.6 Mbit/s, 150 ms per round trip, a quarter of the
 * CPU speed.
 */
const SLOW_LINE = { downloadThroughput: 200_000, uploadThroughput: 96_000, latency: 150, offline: false }
const SLOW_CPU = 4
const FIRST_VISITS = 5
const CHANGES = 20
/** Time limit for a first page. */
const MOST_MS = 60_000

export interface PageTimes {
  /**
   * Median in milliseconds, from the request until the heading and everything it waits for are shown. Nothing is
   * cached.
   */
  firstMs: number
  /** Milliseconds for changes between pages that have been open before. */
  changeMs: { median: number; p95: number }
}

/** `cookie`: session cookie as `name=value`. */
export async function measurePages(url: string, businessId: string, cookie: string): Promise<PageTimes> {
  const browser = await openHeadlessShell()
  try {
    const first: number[] = []
    for (let visit = 0; visit < FIRST_VISITS; visit += 1) first.push(await openFirst(browser, url, businessId, cookie))
    const changes = await changePages(browser, url, businessId, cookie)
    return {
      firstMs: quantile(first, 0.5),
      changeMs: { median: quantile(changes, 0.5), p95: quantile(changes, 0.95) },
    }
  } finally {
    await browser.close()
  }
}

async function openPage(browser: Browser, url: string, cookie: string): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  const [name = '', value = ''] = cookie.split('=')
  await context.addCookies([{ name, value, url }])
  return await context.newPage()
}

async function openFirst(browser: Browser, url: string, businessId: string, cookie: string): Promise<number> {
  const page = await openPage(browser, url, cookie)
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Network.enable')
  await devtools.send('Network.emulateNetworkConditions', SLOW_LINE)
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: SLOW_CPU })
  const shown = Promise.withResolvers<number>()
  await page.exposeBinding('noteShown', (_, at: number) => shown.resolve(at))
  await page.addInitScript(NOTE_SHOWN)
  await page.goto(`${url}/dashboard/b/${businessId}/contacts`, { waitUntil: 'commit' })
  const late = setTimeout(() => shown.reject(new Error(`the first page was not shown in ${MOST_MS} ms`)), MOST_MS)
  try {
    return await shown.promise
  } finally {
    clearTimeout(late)
    await page.context().close()
  }
}

/**
 * Reports the milliseconds since the page was requested, when the heading and everything it waits for are painted. It
 * runs in the page, because polling from outside would cost the slow CPU a tenth of the measured time.
 */
const NOTE_SHOWN = `(() => {
  const look = () => {
    const isThere = document.querySelector('h1')?.textContent === 'Contacts'
    if (!isThere || document.querySelector('[aria-busy=true]') !== null) return
    observer.disconnect()
    requestAnimationFrame(() => setTimeout(() => noteShown(performance.now())))
  }
  const observer = new MutationObserver(look)
  observer.observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ['aria-busy'] })
})()`

async function changePages(browser: Browser, url: string, businessId: string, cookie: string): Promise<number[]> {
  const page = await openPage(browser, url, cookie)
  await page.goto(`${url}/dashboard/b/${businessId}/contacts`)
  const took: number[] = []
  for (let change = 0; change < CHANGES + 2; change += 1) {
    const name = change % 2 === 0 ? 'Custom fields' : 'Contacts'
    const link = page.getByRole('navigation').getByRole('link', { name, exact: true })
    const began = performance.now()
    await link.click()
    await isShown(page, name)
    took.push(performance.now() - began)
  }
  await page.context().close()
  // The first visit to each page loads it.
  return took.slice(2)
}

async function isShown(page: Page, heading: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor()
  await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached' })
}

const quantile = (values: number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? NaN
