// @long
/** Unusual events in the life of a page, and unusual kinds of pages. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { buildModule } from '../../../src/sdk/build-browser.ts'
import { ensureChromium } from './ensure-chromium.ts'
import { CHROMIUM_RULES, cookiesOf, settled, stored, until } from './open-chromium.ts'
import { BUSINESS, page as pageOf, tag } from './open-site.ts'
import { openWeb, SHOP } from './open-web.ts'

const web = openWeb()
const LIVE = `'version' in sluice`
const views = () => web.service.hits().filter(({ kind }) => kind === 'page_view')

/** Resolves with a function that ends it. */
async function runUnwatched(url: string): Promise<() => Promise<void>> {
  const profile = mkdtempSync(join(tmpdir(), 'sluice-chromium-'))
  const args = ['--headless', '--no-sandbox', `--user-data-dir=${profile}`, CHROMIUM_RULES, url]
  const chromium = spawn(await ensureChromium(), args, { stdio: 'ignore' })
  return async () => {
    chromium.kill()
    if (chromium.exitCode === null && chromium.signalCode === null) await once(chromium, 'exit')
    await rm(profile, { recursive: true, force: true, maxRetries: 20 })
  }
}

describe('a page', () => {
  it('that comes back from the cache of the browser counts as viewed again', async () => {
    const { page } = await web.visit()
    await page.goto(web.site.at(SHOP, '/back'))
    await until(() => page.evaluate<boolean>(LIVE))
    await page.evaluate(`window.old = true; sluice.track('first')`)
    await until(() => settled(page))
    await page.goto(web.site.at(SHOP, '/nothing'))
    await page.goBack({ waitUntil: 'commit' })
    // The page is complete, as it was left.
    expect(await until(() => page.evaluate<boolean>('window.old === true'))).toBe(true)
    await page.evaluate(`sluice.track('second')`)
    await web.leave(page)
    await until(() => views().length === 2)
    expect(new Set(views().map(({ pageId }) => pageId)).size).toBe(2)
    expect(web.service.of('track').map(({ event }) => event)).toEqual(['first', 'second'])
  })

  it('that is prerendered counts as viewed when it is shown', async () => {
    const { context, page } = await web.visit()
    await context.addInitScript(`
      Object.defineProperty(document, 'prerendering', { value: true, configurable: true })
      window.show = () => {
        Object.defineProperty(document, 'prerendering', { value: false })
        document.dispatchEvent(new Event('prerenderingchange'))
      }`)
    await page.clock.install()
    await page.goto(web.site.at(SHOP, '/ahead'))
    await until(() => page.evaluate<boolean>(LIVE))
    await page.evaluate(`sluice.track('ahead')`)
    await page.clock.runFor(10_000)
    expect([web.service.sent, await cookiesOf(context), await stored(page)]).toEqual([[], {}, {}])
    await page.evaluate('show()')
    await page.clock.runFor(6_000)
    await until(() => settled(page))
    expect([views().length, web.service.of('track').length]).toEqual([1, 1])
  })

  // A browser under automation does not prerender, so this one runs without it.
  it('that a browser really prerenders does not count as viewed before it is shown', async () => {
    const rules = { prerender: [{ urls: ['/ahead'], eagerness: 'immediate' }] }
    web.site.pages['/said'] = 'wait'
    web.site.pages['/start'] = pageOf(`
      <script type="speculationrules">${JSON.stringify(rules)}</script>
      <script>
        const ask = async () => {
          if ((await (await fetch('/said')).text()) === 'go') location.href = '/ahead'
          else setTimeout(ask, 50)
        }
        ask()
      </script>`)
    const call = `<script>
      sluice.track('made', { ahead: document.prerendering })
      const report = () => ('version' in sluice ? fetch('${web.serviceUrl}/started') : setTimeout(report, 50))
      report()
    </script>`
    web.site.pages['/ahead'] = pageOf(tag({ service: web.serviceUrl, stub: true }) + call)
    const leave = await runUnwatched(web.site.at(SHOP, '/start'))
    try {
      await until(() => web.service.strays.includes('/started'))
      expect([web.service.loads, web.service.sent]).toEqual([['prefetch;prerender'], []])
      web.site.pages['/said'] = 'go'
      await until(() => views().length === 1 && web.service.of('track').length === 1)
      expect(web.service.of('track')).toMatchObject([{ event: 'made', details: { ahead: true } }])
      expect(views().map(({ url }) => url)).toEqual([web.site.at(SHOP, '/ahead')])
    } finally {
      await leave()
    }
  })

  it('may load the script twice, by tag and by package', async () => {
    const once = tag({ service: web.serviceUrl, stub: true })
    const module = `${await buildModule()}\nwindow.second = startSluice({ business: '${BUSINESS}', endpoint: '${web.serviceUrl}' })`
    web.site.pages['/twice'] = pageOf(`${once}${once}<script type="module">${module}</script>`)
    const { page } = await web.visit()
    await page.goto(web.site.at(SHOP, '/twice'))
    await until(() => page.evaluate<boolean>(`${LIVE} && !!window.second`))
    expect(await page.evaluate('window.second === window.sluice')).toBe(true)
    await page.evaluate(`sluice.track('once')`)
    await web.leave(page)
    expect([views().length, web.service.of('track').length]).toEqual([1, 1])
  })

  it('may use the package without the tag', async () => {
    const options = `{ business: '${BUSINESS}', endpoint: '${web.serviceUrl}/', autocapture: 'off' }`
    web.site.pages['/package'] = pageOf(
      `<script type="module">${await buildModule()}\nstartSluice(${options}).track('packaged')</script>`,
    )
    const { page } = await web.visit()
    await page.goto(web.site.at(SHOP, '/package'))
    await until(() => web.service.of('track').length === 1)
    await web.leave(page)
    expect(views()).toEqual([])
  })

  it('may have an element of our name', async () => {
    web.site.pages['/named'] = pageOf(tag({ service: web.serviceUrl }), '<div id="sluice"></div>')
    const { page } = await web.visit()
    await page.goto(web.site.at(SHOP, '/named'))
    await until(() => page.evaluate<boolean>(`typeof sluice.track === 'function'`))
    await page.evaluate(`sluice.track('named')`)
    await until(() => web.service.of('track').length === 1)
  })

  it('that forgot its business gets a warning, and goes on', async () => {
    web.site.pages['/unnamed'] = pageOf(`<script async src="${web.serviceUrl}/sluice.js"></script>`)
    const { page, complaints } = await web.visit()
    await page.goto(web.site.at(SHOP, '/unnamed'))
    await until(() => page.evaluate<boolean>(`typeof sluice === 'object'`))
    await page.evaluate(
      `sluice.track('e'); sluice.identify({ email: 'a@x.io' }); sluice.consent(true); sluice.optOut()`,
    )
    expect(await page.evaluate('sluice.visitorId()')).toBeNull()
    expect(complaints.splice(0).join()).toContain('data-business is missing')
  })

  it('may have a strict policy', async () => {
    const policy = `default-src 'none'; script-src ${web.serviceUrl}; connect-src ${web.serviceUrl}`
    web.site.pages['/strict'] = pageOf(
      `<meta http-equiv="Content-Security-Policy" content="${policy}">${tag({ service: web.serviceUrl })}`,
    )
    const { page } = await web.visit()
    const violations: string[] = []
    page.on('console', (message) => message.type() === 'error' && violations.push(message.text()))
    await page.goto(web.site.at(SHOP, '/strict'))
    await until(() => page.evaluate<boolean>(`typeof window.sluice === 'object'`))
    await page.evaluate(`sluice.track('strict')`)
    await until(() => web.service.of('track').length === 1)
    // Only the style attribute of our test page violates the policy, and nothing in the script does.
    expect(violations.filter((text) => !text.includes('style'))).toEqual([])
  })
})

describe('without storage', () => {
  it('a sandboxed frame is captured from memory', async () => {
    web.site.pages['/outside'] = pageOf('', `<iframe sandbox="allow-scripts" src="/inside?gclid=1"></iframe>`)
    const { page } = await web.visit()
    await page.goto(web.site.at(SHOP, '/outside'))
    const frame = page.frames()[1]!
    await until(() => frame.evaluate<boolean>(LIVE))
    await frame.evaluate(`sluice.track('one'); sluice.track('two'); sluice.identify({ email: 'ann@x.io' })`)
    await until(() => web.service.of('track').length === 2 && web.service.of('identify').length === 1)
    expect(await frame.evaluate(`(() => { try { return document.cookie } catch { return 'denied' } })()`)).toBe(
      'denied',
    )
    await web.leave(page)
    expect(views()).toHaveLength(1)
    expect(new Set(web.service.sent.map(({ body }) => body['visitorId'])).size).toBe(1)
    expect(web.service.of('track')[0]).toMatchObject({ first: { clickIds: { gclid: '1' } } })
  })

  it('a page sends what it can, and an opt-out holds as long as the page', async () => {
    const { context, page } = await web.visit()
    await context.addInitScript(`
      for (const name of ['localStorage', 'sessionStorage']) {
        Object.defineProperty(window, name, { get() { throw new DOMException('denied', 'SecurityError') } })
      }
      Object.defineProperty(Document.prototype, 'cookie', { get: () => '', set() {} })`)
    await page.goto(web.site.at(SHOP, '/'))
    await until(() => page.evaluate<boolean>(LIVE))
    await page.evaluate(`sluice.track('one')`)
    await until(() => web.service.of('track').length === 1)
    await page.evaluate(`sluice.optOut(); sluice.track('two')`)
    await web.leave(page)
    expect(web.service.of('track').map(({ event }) => event)).toEqual(['one'])
  })
})

describe('without a feature', () => {
  it.each([
    ['navigator.sendBeacon', `Object.defineProperty(navigator, 'sendBeacon', { value: undefined })`],
    ['AbortSignal.timeout', `AbortSignal.timeout = undefined`],
    ['navigator.locks', `Object.defineProperty(navigator, 'locks', { value: undefined })`],
  ])('a browser sends nevertheless: %s', async (_name, script) => {
    const { context, page } = await web.visit()
    await context.addInitScript(script)
    await page.goto(web.site.at('127.0.0.1', '/'))
    await until(() => page.evaluate<boolean>(LIVE))
    await page.evaluate(`sluice.track('kept')`)
    await until(() => web.service.of('track').length === 1)
    await web.leave(page)
    await until(() => views().length === 1)
  })

  it('nothing is sent and the page goes on: crypto', async () => {
    const { context, page, complaints } = await web.visit()
    await context.addInitScript(`Object.defineProperty(window, 'crypto', { value: undefined })`)
    await page.goto(web.site.at(SHOP, '/'))
    await until(() => page.evaluate<boolean>(LIVE))
    await page.evaluate(`sluice.track('lost'); sluice.identify({ email: 'a@x.io' }); scrollTo(0, 3000)`)
    await web.leave(page)
    expect(web.service.sent).toEqual([])
    expect(complaints.splice(0).filter((text) => !text.startsWith('Sluice'))).toEqual([])
  })
})
