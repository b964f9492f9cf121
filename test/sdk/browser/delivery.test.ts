// @long
/** Everything that was called or captured arrives once, whatever the network, the service and the tabs do. */
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { setVisible, settled, stored, until } from './open-chromium.ts'
import { openWeb, SHOP } from './open-web.ts'

const web = openWeb()
const events = () => web.service.of('track').map(({ event }) => event)
/**
 * Counts a repeat with the same id once, as the service does: a request that is in progress when a page dies may be
 * repeated.
 */
const countedEvents = () => [
  ...new Map(web.service.of('track').map(({ messageId, event }) => [messageId, event])).values(),
]
const countedViews = () => {
  const byId = new Map(web.service.hits().map((hit) => [hit['id'], hit]))
  const views = [...byId.values()].filter(({ kind }) => kind === 'page_view')
  return views.map(({ url }) => new URL(String(url)).pathname)
}

async function open(page: Page, host = SHOP, path = '/'): Promise<void> {
  await page.goto(web.site.at(host, path))
  await until(() => page.evaluate<boolean>(`'version' in sluice`))
}

describe('offline', () => {
  it('calls and hits wait, and go out once the network is back', async () => {
    const { context, page } = await web.visit()
    await page.clock.install()
    await open(page)
    await context.setOffline(true)
    await page.evaluate(`sluice.track('one'); sluice.track('two')`)
    await page.clock.runFor(20_000)
    expect(web.service.sent).toEqual([])
    await context.setOffline(false)
    await page.clock.runFor(100)
    await until(() => settled(page))
    expect(events()).toEqual(['one', 'two'])
    expect(web.service.of('track')[0]?.['ageMs']).toBeGreaterThanOrEqual(20_000)
    expect(countedViews()).toEqual(['/'])
  })

  it('the next page sends what a closed page could not send', async () => {
    const { context, page } = await web.visit()
    await open(page)
    const visitorId = await page.evaluate('sluice.visitorId()')
    await context.setOffline(true)
    await page.evaluate(`sluice.track('unsent'); sluice.identify({ email: 'ann@x.io' })`)
    expect(web.service.sent).toEqual([])
    // Chromium's simulated outage ends with the page: its last request sometimes gets through, and still counts once.
    await page.close()
    await context.setOffline(false)
    const next = await context.newPage()
    await open(next, SHOP, '/next')
    await until(() => settled(next))
    await web.leave(next)
    expect([countedEvents(), web.service.of('identify').length]).toEqual([['unsent'], 1])
    expect(web.service.of('track')[0]).toMatchObject({ visitorId })
    expect(countedViews()).toEqual(['/', '/next'])
  })

  it('a page that is left in an outage leaves everything to the next one', async () => {
    const { page } = await web.visit()
    await open(page)
    web.service.answer = () => ({ status: 0, broken: true })
    await page.evaluate(`sluice.track('unsent')`)
    await until(() => web.service.sent.length > 0)
    await page.goto(web.site.at(SHOP, '/meanwhile'))
    await until(() => page.evaluate<boolean>(`'version' in sluice`))
    web.service.answer = undefined
    await open(page, SHOP, '/next')
    await until(() => settled(page))
    expect(events()[0]).toBe('unsent')
    expect(new Set(web.service.of('track').map(({ messageId }) => messageId)).size).toBe(1)
    expect(countedViews().toSorted()).toEqual(['/', '/meanwhile', '/next'])
  })

  it('at most 100 calls wait', async () => {
    const { context, page, complaints } = await web.visit()
    await open(page)
    await context.setOffline(true)
    await page.evaluate(`for (let n = 1; n <= 102; n++) sluice.track('n' + n)`)
    expect(complaints.splice(0)).toEqual(Array(2).fill('Sluice: too much waits to be sent: a track is lost'))
    await context.setOffline(false)
    await until(() => settled(page))
    expect([events()[0], events().at(-1), events().length]).toEqual(['n1', 'n100', 100])
  })
})

describe('tabs of one site', () => {
  // Locks need a secure context, which pages on this machine have.
  it('send what waits once, whichever tab sends it', async () => {
    const { context, page } = await web.visit()
    const tabs = [page, await context.newPage(), await context.newPage()]
    for (const tab of tabs) await open(tab, '127.0.0.1')
    await until(() => settled(page))
    await context.setOffline(true)
    for (const [index, tab] of tabs.entries()) {
      await tab.evaluate(`for (let n = 0; n < 20; n++) sluice.track('tab ${index} call ' + n)`)
    }
    await context.setOffline(false)
    await until(() => settled(page))
    expect(new Set(events()).size).toBe(60)
    expect(new Set(web.service.of('track').map(({ messageId }) => messageId)).size).toBe(60)
    // Chromium copies storage between processes with a delay. A tab that takes the lock may therefore still see, for a
    // moment, entries that another tab has removed. Without locks there would be up to three times as many.
    expect(events().length).toBeLessThan(66)
    expect(new Set(web.service.sent.map(({ body }) => body['visitorId'])).size).toBe(1)
  })

  it('lose nothing where there are no locks: what is sent twice has the same id', async () => {
    const { context, page } = await web.visit()
    const tabs = [page, await context.newPage()]
    for (const tab of tabs) await open(tab)
    expect(await page.evaluate('navigator.locks')).toBeUndefined()
    await context.setOffline(true)
    for (const tab of tabs) await tab.evaluate(`for (let n = 0; n < 20; n++) sluice.track('call')`)
    await context.setOffline(false)
    await until(() => settled(page))
    expect(new Set(web.service.of('track').map(({ messageId }) => messageId)).size).toBe(40)
  })
})

describe('a service', () => {
  it('whose answer is lost gets the same again, with the same id', async () => {
    const { page } = await web.visit()
    await open(page)
    let lost = 0
    web.service.answer = ({ route }) => (route === 'track' && lost++ === 0 ? { status: 0, broken: true } : undefined)
    await page.evaluate(`sluice.track('once')`)
    await until(() => web.service.of('track').length === 1)
    const messages = web.service.sent.filter(({ route }) => route === 'track').map(({ body }) => body['messageId'])
    expect(messages.length).toBeGreaterThan(1)
    expect(new Set(messages).size).toBe(1)
  })

  it.each([429, 503])('that answers %i is left alone for as long as it says, by every page', async (status) => {
    const { context, page } = await web.visit()
    await page.clock.install()
    await open(page)
    web.service.answer = () => ({ status, headers: { 'Retry-After': '600' } })
    await page.evaluate(`sluice.track('later')`)
    await page.clock.runFor(10)
    await until(async () => 'sluice_pause' in (await stored(page)))
    const other = await context.newPage()
    await other.clock.install()
    await open(other)
    for (const each of [page, other]) {
      await each.evaluate(`sluice.track('more')`)
      await each.clock.runFor(200_000)
    }
    await page.goto(web.site.at(SHOP, '/next'))
    expect(web.service.sent).toHaveLength(1)
    web.service.answer = undefined
    await until(() => page.evaluate<boolean>(`'version' in sluice`))
    await until(async () => {
      await page.clock.runFor(5_000)
      return settled(page)
    })
    expect(countedEvents()).toEqual(['later', 'more', 'more'])
  })

  it('that fails is tried again, ten times, and then another gets its turn', async () => {
    const { page } = await web.visit()
    await page.clock.install()
    await open(page)
    web.service.answer = ({ body }) => (body['event'] === 'poison' ? { status: 500 } : undefined)
    await page.evaluate(`sluice.track('poison'); sluice.track('after')`)
    await until(async () => {
      await page.clock.runFor(1_000)
      return events().length === 1
    })
    const tries = web.service.sent.filter(({ body }) => body['event'] === 'poison')
    expect(new Set(tries.map(({ body }) => body['messageId'])).size).toBe(1)
    expect([events(), tries.length]).toEqual([['after'], 10])
  })

  it('that is away is tried until it is back', async () => {
    const { page } = await web.visit()
    await page.clock.install()
    await open(page)
    let away = 0
    web.service.answer = () => (away++ < 15 ? { status: 502 } : undefined)
    await page.evaluate(`sluice.track('patient')`)
    await until(async () => {
      await page.clock.runFor(10_000)
      return events().length === 1
    })
    expect(away).toBeGreaterThan(15)
  })

  it.each([400, 403, 404, 413])(
    'that refuses with %i is not asked again, and the page gets a warning',
    async (status) => {
      const { page, complaints } = await web.visit()
      await open(page)
      web.service.answer = ({ body }) => (body['event'] === 'wrong' ? { status } : undefined)
      await page.evaluate(`sluice.track('wrong'); sluice.track('right')`)
      await until(() => events().length === 1)
      await until(() => settled(page))
      expect(web.service.sent.filter(({ route }) => route === 'track')).toHaveLength(2)
      expect(complaints.splice(0)).toEqual(['Sluice: track was refused: {"success":false,"message":"No."}'])
    },
  )

  it('gets hits by the batch, of 50 at most', async () => {
    web.site.pages['/app'] = web.tagged()
    const { page } = await web.visit()
    await page.clock.install()
    await open(page, SHOP, '/app')
    for (let n = 0; n < 60; n++) {
      await page.evaluate(`history.pushState({}, '', '/app/${n}')`)
      await page.clock.runFor(60)
      await page.clock.runFor(60)
    }
    await web.leave(page)
    const batches = web.service.of('capture').map(({ hits }) => (hits as unknown[]).length)
    expect(web.service.hits().filter(({ kind }) => kind === 'page_view')).toHaveLength(61)
    expect(batches.length).toBeLessThan(10)
    expect(Math.max(...batches)).toBeLessThanOrEqual(50)
  })
})

describe('a page that is left', () => {
  /** `seen` lists the calls that are sent. Identify calls wait for `answer`. */
  const holdIdentify = `
    window.seen = []
    const real = fetch
    const answered = new Promise((answer) => (window.answer = answer))
    window.fetch = async (url, init) => {
      if (!url.endsWith('/capture')) seen.push(url.split('/').at(-1))
      if (url.endsWith('/identify')) await answered
      return real(url, init)
    }`
  const calls = () => web.service.sent.filter(({ route }) => route !== 'capture').map(({ route }) => route)
  const seen = (page: Page) => page.evaluate<string[]>('seen')
  const joined = `sluice.identify({ email: 'ann@x.io' }); sluice.track('joined')`

  it('leaves a track that follows an unanswered identify to the next page, which keeps their order', async () => {
    const { page } = await web.visit()
    await open(page)
    await page.evaluate(`${holdIdentify}; ${joined}`)
    await web.leave(page)
    expect(calls()).toEqual([])
    await open(page, SHOP, '/thanks')
    await until(() => settled(page))
    expect([calls(), events()]).toEqual([['identify', 'track'], ['joined']])
  })

  it('leaves it so too when the identify was already under way', async () => {
    const { page } = await web.visit()
    await open(page)
    await page.evaluate(`${holdIdentify}; ${joined}`)
    await until(async () => (await seen(page)).length > 0)
    await page.evaluate(`sluice.track('more')`)
    await setVisible(page, false)
    expect(await seen(page)).toEqual(['identify'])
    await open(page, SHOP, '/thanks')
    await until(() => settled(page))
    expect([calls(), events()]).toEqual([
      ['identify', 'track', 'track'],
      ['joined', 'more'],
    ])
  })

  it('sends the track itself when the answer comes while the page is only hidden', async () => {
    const { page } = await web.visit()
    await open(page)
    // The page is hidden before the calls are sent.
    await page.evaluate(`${holdIdentify}; ${joined}; dispatchEvent(new Event('pagehide'))`)
    expect(await seen(page)).toEqual(['identify'])
    await page.evaluate('answer()')
    await until(() => settled(page))
    expect(calls()).toEqual(['identify', 'track'])
  })

  it('sends at once what follows no identify, or one that was answered', async () => {
    const { page } = await web.visit()
    await open(page)
    await page.evaluate(`sluice.identify({ email: 'ann@x.io' })`)
    await until(() => settled(page))
    const sent = await page.evaluate(`${holdIdentify}
      sluice.track('first'); ${joined}; dispatchEvent(new Event('pagehide')); [...seen]`)
    expect(sent).toEqual(['track', 'identify'])
  })

  it('waits for the identify of another tab too', async () => {
    const { context, page } = await web.visit()
    const other = await context.newPage()
    for (const tab of [page, other]) await open(tab)
    for (const tab of [page, other]) await tab.evaluate(holdIdentify)
    await page.evaluate(`sluice.identify({ email: 'ann@x.io' })`)
    await until(async () => Object.keys(await stored(other)).some((key) => key.endsWith('_identify')))
    await other.evaluate(`sluice.track('joined'); dispatchEvent(new Event('pagehide'))`)
    expect(await seen(other)).not.toContain('track')
    for (const tab of [page, other]) await tab.evaluate('answer()')
    await until(() => settled(page))
    expect([calls()[0], countedEvents()]).toEqual(['identify', ['joined']])
  })

  it('sends at once what no later page could read', async () => {
    const { context, page } = await web.visit()
    await context.addInitScript(`
      Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('denied', 'SecurityError') } })`)
    await open(page)
    const sent = await page.evaluate(`${holdIdentify}
      ${joined}; dispatchEvent(new Event('pagehide')); [...seen]`)
    expect(sent).toEqual(['identify', 'track'])
  })
})

it.each([
  [19_999, true],
  [20_000, false],
])('a call of %i characters outlives its page: %s', async (characters, outlives) => {
  const { page } = await web.visit()
  await open(page)
  await page.evaluate(`
    window.seen = []
    const real = fetch
    window.fetch = (url, init) => {
      if (url.endsWith('/track')) seen.push([init.body.length, init.keepalive])
      return real(url, init)
    }`)
  // The number of digits of the ages in a body is known only when it is sent.
  for (let [calls, missing, padding] = [1, characters, 0]; missing !== 0; calls += 1) {
    await page.evaluate(`sluice.track('large', { text: 'x'.repeat(${padding}) })`)
    const last = await until(() => page.evaluate<[number, boolean] | false>(`seen.length === ${calls} && seen.at(-1)`))
    missing = characters - last[0]
    padding += missing
    expect(last).toEqual([last[0], missing === 0 ? outlives : last[0] < 20_000])
  }
  await until(() => settled(page))
})
