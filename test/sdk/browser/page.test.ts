// @long
/** A plain website: what is sent about a visit, and what is stored about the visitor. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { fileOf } from '../../../src/sdk/build-browser.ts'
import { cookiesOf, setVisible, settled, stored, until } from './open-chromium.ts'
import { BUSINESS, page as pageOf, tag } from './open-site.ts'
import { openWeb, SHOP } from './open-web.ts'

const web = openWeb()
const HEX = /^[0-9a-f]{32}$/
/**
 * Counts as the service does: a repeat with the same id does not count. (With a fast clock, requests in progress time
 * out.)
 */
const kinds = (kind: string) => {
  const byId = new Map(web.service.hits().map((hit) => [hit['id'], hit]))
  return [...byId.values()].filter((hit) => hit['kind'] === kind)
}

describe('a visit', () => {
  it('is sent as a page view, with how the visitor came', async () => {
    const { page } = await web.visit()
    const landing = web.site.at(SHOP, '/landing?utm_source=news&utm_campaign=may&gclid=g-1&token=secret#top')
    await page.goto(landing, { referer: 'https://news.elsewhere.test/today?email=a' })
    const [body] = await until(() => web.service.of('capture').length > 0 && web.service.of('capture'))
    const touch = {
      ageMs: expect.any(Number) as number,
      url: web.site.at(SHOP, '/landing?utm_source=news&utm_campaign=may&gclid=g-1'),
      referrer: 'https://news.elsewhere.test/today',
      utm: { source: 'news', campaign: 'may' },
      clickIds: { gclid: 'g-1' },
    }
    expect(body).toEqual({
      businessId: BUSINESS,
      visitorId: expect.stringMatching(HEX) as string,
      hits: [
        {
          id: expect.stringMatching(HEX) as string,
          kind: 'page_view',
          ageMs: expect.any(Number) as number,
          pageId: expect.stringMatching(HEX) as string,
          url: touch.url,
          title: 'A page',
          referrer: touch.referrer,
        },
      ],
      first: touch,
      latest: touch,
    })
  })

  it('goes on from page to page as one visitor, who came as at first', async () => {
    const { page } = await web.visit()
    await page.goto(web.site.at(SHOP, '/?utm_source=first'))
    await page.goto(web.site.at(SHOP, '/?fbclid=f-2'), { referer: web.site.at('shop.example', '/') })
    await page.goto(web.site.at(SHOP, '/more'), { referer: web.site.at(SHOP, '/') })
    await page.goto(web.site.at('app.shop.example', '/inside'), { referer: web.site.at(SHOP, '/') })
    await web.leave(page)
    const views = kinds('page_view')
    expect(new Set(views.map(({ visitorId }) => visitorId)).size).toBe(1)
    expect(views.map(({ referrer }) => referrer)).toEqual(Array(4).fill(undefined))
    expect(new Set(views.map(({ pageId }) => pageId)).size).toBe(4)
    const [first, second, third] = web.service.of('capture').filter((body) => 'first' in body)
    expect(first).toMatchObject({ first: { utm: { source: 'first' } }, latest: { utm: { source: 'first' } } })
    for (const later of [second, third]) {
      expect(later).toMatchObject({ first: { utm: { source: 'first' } }, latest: { clickIds: { fbclid: 'f-2' } } })
    }
  })

  it('sends the depth once per quarter, and the time the page was looked at', async () => {
    const { page } = await web.visit()
    await page.clock.install()
    await page.goto(web.site.at(SHOP, '/long'))
    await until(() => page.evaluate<boolean>(`'version' in sluice`))
    for (const y of [1300, 200, 1400, 9999]) {
      await page.evaluate(`new Promise((done) => {
        addEventListener('scroll', () => done(), { once: true }); scrollTo(0, ${y})
      })`)
      await page.clock.runFor(300)
    }
    await page.clock.runFor(6_000)
    await until(() => settled(page))
    await page.clock.runFor(34_000)
    await web.leave(page)
    // The beacon and later requests may arrive in any order.
    await until(() => kinds('time').length > 0)
    const [view] = kinds('page_view')
    expect(kinds('scroll').map(({ depth, pageId }) => [depth, pageId])).toEqual(
      [25, 50, 75, 100].map((depth) => [depth, view?.['pageId']]),
    )
    const [active, idle] = ['activeMs', 'idleMs'].map((name) =>
      kinds('time').reduce((sum, time) => sum + Number(time[name]), 0),
    )
    expect(active).toBeGreaterThanOrEqual(30_000)
    expect(idle).toBeGreaterThanOrEqual(10_000 - 300)
    expect(Number(active) + Number(idle)).toBeGreaterThanOrEqual(41_200)
  })

  it('sends a long look minute by minute, and nothing of a tab that is not touched', async () => {
    const { page } = await web.visit()
    await page.clock.install()
    await page.goto(web.site.at(SHOP, '/'))
    await until(() => page.evaluate<boolean>(`'version' in sluice`))
    await page.clock.runFor(66_000)
    const [first] = await until(() => kinds('time').length > 0 && kinds('time'))
    expect(first?.['activeMs']).toBeLessThanOrEqual(30_000)
    expect(first?.['activeMs']).toBeGreaterThan(29_000)
    await page.clock.runFor(600_000)
    await web.leave(page)
    await until(() => kinds('time').length > 1)
    expect(kinds('time')).toHaveLength(2)
    expect(kinds('time')[1]?.['activeMs']).toBe(0)
  })

  it('counts no time while the tab is hidden, and sends at once what it has', async () => {
    const { page } = await web.visit()
    await page.clock.install()
    await page.goto(web.site.at(SHOP, '/'))
    await until(() => page.evaluate<boolean>(`'version' in sluice`))
    await page.clock.runFor(2_000)
    await setVisible(page, false)
    await until(() => kinds('time').length === 1)
    await page.clock.runFor(3_600_000)
    await setVisible(page, true)
    await page.clock.runFor(3_000)
    await web.leave(page)
    const total = kinds('time').reduce((sum, { activeMs, idleMs }) => sum + Number(activeMs) + Number(idleMs), 0)
    expect(total).toBeGreaterThanOrEqual(5_000)
    expect(total).toBeLessThan(3_600_000)
    expect(kinds('page_view')).toHaveLength(1)
  })

  it.each(['off', 'false'])('sends nothing by itself when capture is %s', async (word) => {
    web.site.pages['/quiet'] = web.tagged(`data-autocapture="${word}"`)
    const { page } = await web.visit()
    await page.goto(web.site.at(SHOP, '/quiet?gclid=1'))
    await page.evaluate(`sluice.track('said')`)
    await until(() => web.service.of('track').length === 1)
    await web.leave(page)
    expect(web.service.sent.map(({ route }) => route)).toEqual(['track'])
    expect(web.service.of('track')[0]).toMatchObject({ first: { clickIds: { gclid: '1' } } })
  })
})

describe('a call', () => {
  it('made before the script has loaded is sent in its turn', async () => {
    const calls = `<script>window.made = true; setTimeout(() => { /* later than the snippet */ }, 0)</script>`
    const body = `<script>
      sluice.track('one', { n: 1 }); sluice.identify({ email: 'ann@x.io' }, { name: 'Ann' }); sluice.track('two')
      window.kept = sluice.track; window.idBefore = sluice.visitorId()
    </script>`
    web.site.pages['/early'] = pageOf(`${calls}${tag({ service: web.serviceUrl, stub: true })}`, body)
    const { page } = await web.visit()
    await page.goto(web.site.at(SHOP, '/early'))
    await until(() => web.service.of('track').length === 2)
    expect(
      web.service.sent.filter(({ route }) => route !== 'capture').map(({ route, body }) => [route, body['event']]),
    ).toEqual([
      ['track', 'one'],
      ['identify', undefined],
      ['track', 'two'],
    ])
    expect(await page.evaluate('idBefore')).toBeUndefined()
    // Code that has kept a function of the snippet now calls the real one.
    await page.evaluate(`kept('three')`)
    await until(() => web.service.of('track').length === 3)
  })

  it('sends an event with its details, page, visitor and how they came', async () => {
    const { page } = await web.visit()
    await page.goto(web.site.at(SHOP, '/buy?ttclid=t#part'))
    const returned = await page.evaluate(`(() => { const details = { n: 1, list: ['ü'] }
      const said = sluice.track('  Demo requested 🎉', details); details.n = 2; return said })()`)
    expect(returned).toBeUndefined()
    const [body] = await until(() => web.service.of('track').length > 0 && web.service.of('track'))
    const touch = {
      ageMs: expect.any(Number) as number,
      url: web.site.at(SHOP, '/buy?ttclid=t'),
      clickIds: { ttclid: 't' },
    }
    expect(body).toEqual({
      businessId: BUSINESS,
      visitorId: await page.evaluate('sluice.visitorId()'),
      event: '  Demo requested 🎉',
      details: { n: 1, list: ['ü'] },
      messageId: expect.stringMatching(HEX) as string,
      ageMs: expect.any(Number) as number,
      first: touch,
      latest: touch,
    })
  })

  it('with the name of a page view counts as deliberate, and captured ones do not', async () => {
    const { page } = await web.visit()
    await page.goto(web.site.at(SHOP, '/'))
    await page.evaluate(`sluice.track('page_view')`)
    await until(() => web.service.of('track').length === 1)
    await web.leave(page)
    expect(web.service.of('track').map(({ event }) => event)).toEqual(['page_view'])
    expect(kinds('page_view')).toHaveLength(1)
  })

  it('identifies with the visitor, as JSON after a preflight', async () => {
    const { page } = await web.visit()
    await page.goto(web.site.at(SHOP, '/'))
    await page.evaluate(`sluice.identify({ email: 'ann@x.io', platformCustomerId: 7 }, { name: 'Ann Lee' })`)
    const [body] = await until(() => web.service.of('identify').length > 0 && web.service.of('identify'))
    expect(body).toEqual({
      businessId: BUSINESS,
      ageMs: expect.any(Number) as number,
      visitorId: await page.evaluate('sluice.visitorId()'),
      identity: { email: 'ann@x.io', platformCustomerId: 7 },
      profile: { name: 'Ann Lee' },
    })
  })

  it('survives a redirect that follows at once', async () => {
    const { page } = await web.visit()
    await page.goto(web.site.at(SHOP, '/'))
    await page.evaluate(`sluice.track('leaving'); sluice.identify({ email: 'ann@x.io' }); location.href = '/next'`)
    await page.waitForURL('**/next')
    await until(() => web.service.of('track').length > 0 && web.service.of('identify').length > 0)
    // If both pages have sent the call, it has the same id.
    expect(new Set(web.service.of('track').map(({ messageId }) => messageId)).size).toBe(1)
  })

  it('never throws, and reports on the console what is wrong', async () => {
    const { page, complaints } = await web.visit()
    await page.goto(web.site.at(SHOP, '/'))
    await until(() => page.evaluate<boolean>(`'version' in sluice`))
    await page.evaluate(`{
      const cycle = {}; cycle.self = cycle
      sluice.track(); sluice.track(''); sluice.track(42); sluice.track({}); sluice.identify(); sluice.identify('ann')
      sluice.track('cyclic', cycle); sluice.track('big', { n: 1n }); sluice.track('list', [1]); sluice.track('text', 'x')
      sluice.track('huge', { text: 'x'.repeat(32768) }); sluice.track('large', { text: 'x'.repeat(32757) })
      sluice.track('function', () => 1); sluice.consent(true); sluice.optOut(false)
    }`)
    const events = await until(() => web.service.of('track').length === 7 && web.service.of('track'))
    expect(events.map(({ event }) => event)).toEqual(['cyclic', 'big', 'list', 'text', 'huge', 'large', 'function'])
    expect(events.filter(({ details }) => details !== undefined).map(({ event }) => event)).toEqual(['large'])
    expect(complaints.splice(0)).toHaveLength(13)
  })
})

describe('the visitor', () => {
  it('is a cookie of the registrable domain for a year, and a copy beside it', async () => {
    const { page, context } = await web.visit()
    await page.goto(web.site.at('a.b.shop.co.uk', '/'))
    const id = await until(() => page.evaluate<string | false>(`'version' in sluice && sluice.visitorId()`))
    expect(id).toMatch(HEX)
    const cookies = await cookiesOf(context)
    expect(cookies).toMatchObject({
      sluice_visitor: { value: id, domain: '.shop.co.uk', path: '/', sameSite: 'Lax', secure: false, httpOnly: false },
    })
    expect(Object.keys(cookies)).toEqual(['sluice_visitor'])
    const days = (Number(cookies['sluice_visitor']?.expires) - Date.now() / 1000) / 86_400
    expect(Math.round(days)).toBe(365)
    expect((await stored(page))['sluice_visitor']).toBe(id)
  })

  it('is Secure on https', async () => {
    const { page, context } = await web.visit()
    const script = readFileSync(fileOf('sluice.js'), 'utf8')
    const inline = `<script data-business="${BUSINESS}" data-endpoint="https://sluice.example">${script}</script>`
    await context.route('https://**', (route) => route.fulfill({ body: pageOf(inline), contentType: 'text/html' }))
    await page.goto('https://www.shop.example/')
    const { sluice_visitor } = await until(async () => {
      const cookies = await cookiesOf(context)
      return 'sluice_visitor' in cookies && cookies
    })
    expect(sluice_visitor).toMatchObject({ secure: true, domain: '.shop.example', sameSite: 'Lax' })
    await context.unrouteAll({ behavior: 'ignoreErrors' })
  })

  it('is restored from either copy when the other is gone', async () => {
    const { page, context } = await web.visit()
    const id = async () => {
      await page.goto(web.site.at(SHOP, '/'))
      return until(() => page.evaluate<string | false>(`'version' in sluice && sluice.visitorId()`))
    }
    const first = await id()
    await context.clearCookies()
    expect(await id()).toBe(first)
    expect((await cookiesOf(context))['sluice_visitor']?.value).toBe(first)
    await page.evaluate('localStorage.clear()')
    expect(await id()).toBe(first)
    expect((await stored(page))['sluice_visitor']).toBe(first)
    await context.clearCookies()
    await page.evaluate('localStorage.clear()')
    expect(await id()).not.toBe(first)
  })

  it('is not what another script wrote there', async () => {
    const { page, context } = await web.visit()
    await context.addCookies([{ name: 'sluice_visitor', value: 'admin', domain: '.shop.example', path: '/' }])
    await page.goto(web.site.at(SHOP, '/'))
    const id = await until(() => page.evaluate<string | false>(`'version' in sluice && sluice.visitorId()`))
    expect(id).toMatch(HEX)
    expect((await cookiesOf(context))['sluice_visitor']?.value).toBe(id)
  })
})
