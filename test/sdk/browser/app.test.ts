// @long
/** An app that changes the address itself: each page counts once, however the browser reports it. */
import type { BrowserContext, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { until } from './open-chromium.ts'
import { openWeb, SHOP } from './open-web.ts'

const web = openWeb()

/** Like real routers: titles, and redirects from within a page, come a moment after the address. */
const ROUTER = `<script>
  const name = () => { document.title = 'Page ' + location.pathname }
  function go(path) { history.pushState({}, '', path); setTimeout(name, 50) }
  function redirect(from, to) { go(from); setTimeout(() => { history.replaceState({}, '', to); setTimeout(name, 50) }, 50) }
</script>`

/** Simulates, before any script of the page, a browser without an event for a new address. */
const withoutEvent = (context: BrowserContext) =>
  context.addInitScript(`Object.defineProperty(window, 'navigation', { value: undefined })`)

const rest = (page: Page) => page.clock.runFor(200)
const views = () =>
  web.service
    .hits()
    .filter(({ kind }) => kind === 'page_view')
    .map(({ url, title }) => [String(url).replace(web.site.at(SHOP, ''), ''), title])

describe.each([
  ['of today', undefined],
  ['without the navigation event', withoutEvent],
])('in a browser %s', (_name, prepare) => {
  async function open(path: string): Promise<Page> {
    web.site.pages['/app'] = web.tagged('', ROUTER)
    const { context, page } = await web.visit()
    await prepare?.(context)
    await page.clock.install()
    await page.goto(web.site.at(SHOP, path))
    await until(() => page.evaluate<boolean>(`'version' in sluice`))
    return page
  }

  it('sends each page of an app as a view, with its own title, depth and time', async () => {
    const page = await open('/app')
    await page.clock.runFor(2_000)
    await page.evaluate(`go('/app/a')`)
    await rest(page)
    await page.evaluate(
      `new Promise((done) => { addEventListener('scroll', () => done(), { once: true }); scrollTo(0, 2000) })`,
    )
    await page.clock.runFor(1_500)
    await page.evaluate(`go('/app/b')`)
    await rest(page)
    await web.leave(page)
    expect(views()).toEqual([
      ['/app', 'A page'],
      ['/app/a', 'Page /app/a'],
      ['/app/b', 'Page /app/b'],
    ])
    const [first, second, third] = web.service.hits().filter(({ kind }) => kind === 'page_view')
    const other = web.service.hits().filter(({ kind }) => kind !== 'page_view')
    expect(other.filter(({ kind }) => kind === 'scroll').map(({ pageId, url }) => [pageId, url])).toEqual([
      [second?.['pageId'], second?.['url']],
      [second?.['pageId'], second?.['url']],
    ])
    const timed = other.filter(({ kind }) => kind === 'time').map(({ pageId }) => pageId)
    expect(timed.slice(0, 2)).toEqual([first?.['pageId'], second?.['pageId']])
    expect(new Set([first, second, third].map((view) => view?.['pageId'])).size).toBe(3)
  })

  it('back and forth are page views, a redirect is one', async () => {
    const page = await open('/app')
    await page.evaluate(`redirect('/app/old', '/app/new')`)
    await rest(page)
    await page.evaluate(`new Promise((done) => { addEventListener('popstate', done, { once: true }); history.back() })`)
    await rest(page)
    await page.evaluate(
      `new Promise((done) => { addEventListener('popstate', done, { once: true }); history.forward() })`,
    )
    await rest(page)
    await web.leave(page)
    expect(views().map(([url]) => url)).toEqual(['/app', '/app/new', '/app', '/app/new'])
  })

  it('an address with the same path is not a page view', async () => {
    const page = await open('/app?tab=1')
    for (const call of [
      `history.replaceState({}, '', location.href)`,
      `history.pushState({}, '', '/app?tab=2')`,
      `history.pushState({}, '', '/app?tab=2#part')`,
      `location.hash = 'other'`,
      `history.replaceState({ scroll: 1 }, '')`,
    ]) {
      await page.evaluate(call)
      await rest(page)
    }
    await web.leave(page)
    expect(views().map(([url]) => url)).toEqual(['/app?tab=1'])
  })

  it('routes in the fragment are pages', async () => {
    const page = await open('/app#/')
    for (const route of ['#/a', '#/a?x=1', '#/b', '#part']) {
      await page.evaluate(`location.hash = '${route}'`)
      await rest(page)
    }
    await web.leave(page)
    expect(views().map(([url]) => url)).toEqual(['/app#/', '/app#/a', '/app#/b', '/app'])
  })

  it('leaving at the moment of a page change loses neither page', async () => {
    const page = await open('/app')
    // No timer runs.
    await page.clock.pauseAt(Date.now() + 3_600_000)
    await page.evaluate(`go('/app/last')`)
    await web.leave(page)
    expect(views().map(([url]) => url)).toEqual(['/app', '/app/last'])
  })
})

describe('a router', () => {
  it('that took hold of pushState before the script was there is seen too', async () => {
    web.site.pages['/app'] = web.tagged('', `<script>window.push = history.pushState.bind(history)</script>`)
    const { page } = await web.visit()
    await page.clock.install()
    await page.goto(web.site.at(SHOP, '/app'))
    await until(() => page.evaluate<boolean>(`'version' in sluice`))
    for (const path of ['/app/a', '/app/b']) {
      await page.evaluate(`push({}, '', '${path}')`)
      await rest(page)
    }
    await web.leave(page)
    expect(views().map(([url]) => url)).toEqual(['/app', '/app/a', '/app/b'])
  })
})
