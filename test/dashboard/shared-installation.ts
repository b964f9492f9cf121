/**
 * A whole service and a browser. The files of a worker that asks for it (shared-environment.ts) share one: starting both
 * takes longer than many a file.
 */
import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import type { Browser, Page } from 'playwright-core'
import { openHeadlessShell } from '../sdk/browser/open-chromium.ts'
import { makeAnalystFolder } from '../support/analyst-engine.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { openService, type Service } from '../support/service.ts'
import type { StackOptions } from '../support/stack.ts'

export interface Installation {
  service: Service
  browser: Browser
  /** Returns a page of an empty browser profile. */
  takeProfile(language: string): Promise<Page>
  /** Empties the profile for the next one that takes it. */
  leaveProfile(page: Page, language: string): Promise<void>
  close(): Promise<void>
}

export async function openInstallation(
  environment: Record<string, string> = {},
  options: StackOptions = {},
): Promise<Installation> {
  const secretsKey = randomBytes(32).toString('hex')
  const folder = await makeAnalystFolder()
  // Channels and destinations of the tests are on this machine.
  const usual = { SECRETS_KEY: secretsKey, DATA_DIR: folder, ALLOW_LOOPBACK_TARGETS: 'true' }
  const service = await openService({ ...usual, ...environment }, options)
  const browser = await openHeadlessShell().catch(async (error: unknown) => {
    await service.close()
    throw error
  })
  /** Profiles that no test uses, by language. */
  const idle = new Map<string, Page[]>()
  return {
    service,
    browser,
    async takeProfile(language) {
      const page = idle.get(language)?.pop()
      if (page) return page
      const context = await browser.newContext({ locale: language, reducedMotion: 'reduce' })
      context.setDefaultTimeout(PATIENCE_MS)
      return context.newPage()
    },
    async leaveProfile(page, language) {
      await emptyProfile(page, service.url)
      idle.set(language, [...(idle.get(language) ?? []), page])
    },
    async close() {
      try {
        await browser.close()
      } finally {
        await service.close()
      }
      await rm(folder, { recursive: true })
    },
  }
}

let isShared = false
let shared: Promise<Installation> | undefined

/** From now on, the files of this worker share an installation, until `close`. */
export function shareInstallation(): { close(): Promise<void> } {
  isShared = true
  return {
    async close() {
      await (await shared)?.close()
    },
  }
}

/** Undefined where files share none. */
export async function takeShared(): Promise<Installation | undefined> {
  if (!isShared) return undefined
  try {
    return await (shared ??= openInstallation())
  } catch (error) {
    // The next file tries again.
    shared = undefined
    throw error
  }
}

/**
 * Removes the businesses, so that nothing of them runs or is listed any more, the users, and what operators see of all
 * businesses.
 */
export async function emptyShared({ service: { sql } }: Installation): Promise<void> {
  await sql`update businesses set removed_at = now() where removed_at is null`
  await sql`delete from users`
  await sql`delete from dead_letters`
  await sql`delete from audit_log`
}

const HEARD = ['console', 'dialog', 'download', 'pageerror', 'request', 'requestfailed', 'response'] as const

/**
 * Removes everything that a test has left in a profile. A new profile would cost more than most pages: a process that
 * compiles all scripts again.
 */
async function emptyProfile(page: Page, origin: string): Promise<void> {
  const context = page.context()
  for (const event of HEARD) page.removeAllListeners(event)
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  // A page of the same site without scripts: for one of another site, the browser would end the process.
  await page.goto(`${origin}/healthz`)
  await page.mouse.move(0, 0)
  await page.evaluate('localStorage.clear(), sessionStorage.clear()')
  await context.clearCookies()
  await context.clearPermissions()
}
