/** A small web: a Chromium, a site on hosts of its own, and a service elsewhere. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { PATIENCE_MS } from '../../support/at-load.ts'
import { hearComplaints, openChromium } from './open-chromium.ts'
import { openSite, page, type Site, tag } from './open-site.ts'
import { openStubService, type StubService } from './stub-service.ts'

export const SHOP = 'www.shop.example'

export interface Web {
  browser: Browser
  site: Site
  service: StubService
  /** The URL of the service for pages. It is on another site than theirs. */
  serviceUrl: string
  /** Opens a fresh profile. Any complaint of its pages fails the test, unless the test removes it from the list. */
  visit(options?: BrowserContextOptions): Promise<{ context: BrowserContext; page: Page; complaints: string[] }>
  /** Returns a page with the tag, and with `head` in its head. */
  tagged(attributes?: string, head?: string): string
  /** Leaves for a page without the tag. Resolves when everything that was sent on the way out has arrived. */
  leave(page: Page): Promise<void>
}

/**
 * Call this at the top of a test file, and use its result inside tests. Each test gets a service and profiles of its
 * own.
 */
export function openWeb(): Web {
  const web = {} as Web
  const heard: string[][] = []
  beforeAll(async () => {
    web.site = await openSite()
    web.browser = await openChromium()
  }, 600_000)
  beforeEach(async () => {
    web.service = await openStubService()
    web.serviceUrl = `http://sluice.example:${web.service.port}`
    web.site.pages = { '*': web.tagged(), '/nothing': page('') }
  })
  afterEach(async () => {
    await Promise.all(web.browser.contexts().map((context) => context.close()))
    await web.service.close()
    expect([...heard.splice(0).flat(), ...web.service.faults]).toEqual([])
  })
  afterAll(async () => {
    await web.browser?.close()
    await web.site?.close()
  })
  web.tagged = (attributes = '', head = '') =>
    page(`${head}${tag({ service: web.serviceUrl, attributes, stub: true })}`)
  web.visit = async (options = {}) => {
    const context = await web.browser.newContext(options)
    context.setDefaultTimeout(PATIENCE_MS)
    const complaints = hearComplaints(context)
    heard.push(complaints)
    return { context, page: await context.newPage(), complaints }
  }
  web.leave = async (page) => {
    await page.goto(web.site.at('elsewhere.example', '/nothing'))
    const fence = `${web.serviceUrl}/fence`
    await Promise.all([page.waitForResponse(fence), page.evaluate(`fetch('${fence}')`)])
    // An earlier request on another connection may still arrive a moment later.
    await sleep(150)
  }
  return web
}
