/** One Chromium per test file, and a fresh profile per test. */
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { ensureChromium, ensureHeadlessShell } from './ensure-chromium.ts'

/** Resolves all hosts of the tests to this machine. */
export const CHROMIUM_RULES = '--host-resolver-rules=MAP *.example 127.0.0.1, MAP *.co.uk 127.0.0.1'

/**
 * The browser that people use, for what a browser does with its pages: the headless shell does not keep pages to come
 * back to.
 */
export const openChromium = async (): Promise<Browser> => launch(await ensureChromium())

/** For tests of a single page. */
export const openHeadlessShell = async (): Promise<Browser> => launch(await ensureHeadlessShell())

async function launch(executablePath: string): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [CHROMIUM_RULES],
    // Pages come back from the browser's cache, as they do for people.
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  })
}

/** Collects the complaints of a page: uncaught errors, and the script's warnings on the console. */
export function hearComplaints(context: BrowserContext): string[] {
  const heard: string[] = []
  context.on('weberror', (error) => heard.push(error.error().message))
  context.on('console', (message) => {
    if (message.type() === 'warning' && message.text().startsWith('Sluice')) heard.push(message.text())
  })
  return heard
}

/** Resolves once `read` returns a value; rejects with the last value after 100 s. */
export async function until<T>(read: () => T | undefined | false | Promise<T | undefined | false>): Promise<T> {
  const deadline = Date.now() + 100_000
  for (;;) {
    const found = await read()
    if (found !== undefined && found !== false) return found
    if (Date.now() > deadline) throw new Error(`not within 100 s: ${read.toString()}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Simulates that the tab is left for another one, or shown again. */
export async function setVisible(page: Page, visible: boolean): Promise<void> {
  const state = visible ? 'visible' : 'hidden'
  await page.evaluate(`
    Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true })
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`)
}

export type Cookie = Awaited<ReturnType<BrowserContext['cookies']>>[number]

export const cookiesOf = async (context: BrowserContext): Promise<Record<string, Cookie>> =>
  Object.fromEntries((await context.cookies()).map((cookie) => [cookie.name, cookie]))

export const stored = async (page: Page): Promise<Record<string, string>> =>
  await page.evaluate<Record<string, string>>('Object.assign({}, localStorage)')

/** Resolves with true when nothing waits to be sent, because everything was accepted. */
export const settled = async (page: Page): Promise<boolean> =>
  !Object.keys(await stored(page)).some((key) => key.startsWith('sluice_out_'))
