// @long
/** What the visitor allows, and what is stored and sent accordingly. */
import type { BrowserContext, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { cookiesOf, stored, until } from './open-chromium.ts'
import { openWeb, SHOP, type Web } from './open-web.ts'

const web: Web = openWeb()

async function open(page: Page, path = '/asked'): Promise<void> {
  web.site.pages['/asked'] = web.tagged('data-consent="required"')
  await page.goto(web.site.at(SHOP, path))
  await until(() => page.evaluate<boolean>(`'version' in sluice`))
}

async function kept(context: BrowserContext, page: Page): Promise<string[]> {
  return [...Object.keys(await cookiesOf(context)), ...Object.keys(await stored(page))].toSorted()
}

const CHOICE_ONLY = ['sluice_choice', 'sluice_choice']

describe('where consent is required', () => {
  it('nothing is kept or sent before consent, and all is afterwards, with its original times', async () => {
    const { context, page } = await web.visit()
    await page.clock.install()
    await open(page, '/asked?gclid=g')
    await page.evaluate(`sluice.track('early', { n: 1 }); sluice.identify({ email: 'ann@x.io' })`)
    await page.clock.runFor(60_000)
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange')); dispatchEvent(new Event('pagehide'))`)
    expect(await page.evaluate('sluice.visitorId()')).toBeNull()
    expect([await kept(context, page), await page.evaluate('document.cookie')]).toEqual([[], ''])
    expect(web.service.sent).toEqual([])

    await page.evaluate(`sluice.consent(true); sluice.track('late')`)
    await page.clock.runFor(100)
    await until(() => web.service.of('track').length === 2 && web.service.of('identify').length === 1)
    const [early, late] = web.service.of('track')
    expect([early?.['event'], late?.['event']]).toEqual(['early', 'late'])
    expect(early?.['ageMs']).toBeGreaterThanOrEqual(60_000)
    expect(early).toMatchObject({ first: { clickIds: { gclid: 'g' } }, details: { n: 1 } })
    await web.leave(page)
    expect(web.service.hits().filter(({ kind }) => kind === 'page_view')).toHaveLength(1)
  })

  it('it is remembered on the next page, until the opposite is said', async () => {
    const { context, page } = await web.visit()
    await open(page)
    await page.evaluate('sluice.consent(true)')
    await open(page)
    await page.evaluate(`sluice.track('second page')`)
    await until(() => web.service.of('track').length === 1)
    await page.evaluate('sluice.consent(false)')
    expect(await kept(context, page)).toEqual(CHOICE_ONLY)
    await open(page)
    expect(await page.evaluate('sluice.visitorId()')).toBeNull()
  })

  it('a no drops what was called meanwhile, and leaves only the answer', async () => {
    const { context, page } = await web.visit()
    await open(page)
    await page.evaluate(`sluice.track('early'); sluice.consent(false); sluice.track('refused')`)
    expect(await kept(context, page)).toEqual(CHOICE_ONLY)
    await page.evaluate(`sluice.consent(true); sluice.track('after all')`)
    await until(() => web.service.of('track').length === 1)
    await web.leave(page)
    expect(web.service.of('track').map(({ event }) => event)).toEqual(['after all'])
  })

  it.each(['data-consent', 'data-consent="Required"', 'data-consent="true"'])('%s says so as well', async (words) => {
    web.site.pages['/worded'] = web.tagged(words)
    const { context, page } = await web.visit()
    await open(page, '/worded')
    await page.evaluate(`sluice.track('early')`)
    await web.leave(page)
    expect([await kept(context, page), web.service.sent]).toEqual([[], []])
  })

  it.each([`'no'`, `'false'`, `'yes'`, '1', ''])('consent(%s) does not mean yes', async (given) => {
    const { context, page } = await web.visit()
    await open(page)
    await page.evaluate(`sluice.consent(${given}); sluice.track('refused')`)
    expect(await kept(context, page)).toEqual(CHOICE_ONLY)
    await web.leave(page)
    expect(web.service.sent).toEqual([])
  })

  it('at most 100 calls wait for it', async () => {
    const { page } = await web.visit()
    await open(page)
    await page.evaluate(`for (let n = 1; n <= 101; n++) sluice.track('n' + n)`)
    await page.evaluate('sluice.consent(true)')
    const events = await until(() => web.service.of('track').length === 100 && web.service.of('track'))
    await web.leave(page)
    expect([events[0]?.['event'], events.at(-1)?.['event'], web.service.of('track').length]).toEqual([
      'n1',
      'n100',
      100,
    ])
  })

  it('is known in the other tabs of the site at once', async () => {
    const { context, page } = await web.visit()
    await open(page)
    const other = await context.newPage()
    await open(other)
    await other.evaluate(`sluice.track('from the other tab')`)
    await page.evaluate('sluice.consent(true)')
    await until(() => web.service.of('track').length === 1)
    expect(await other.evaluate('sluice.visitorId()')).toBe(await page.evaluate('sluice.visitorId()'))
    await page.evaluate('sluice.optOut()')
    expect(await other.evaluate('sluice.visitorId()')).toBeNull()
  })
})

describe('an opt-out', () => {
  it('forgets the visitor and stays silent, here and on the next page', async () => {
    const { context, page } = await web.visit()
    await page.goto(web.site.at(SHOP, '/?gclid=g'))
    await page.evaluate(`sluice.track('before')`)
    await until(() => web.service.of('track').length === 1)
    const before = await page.evaluate('sluice.visitorId()')
    await page.evaluate(
      `sluice.optOut(); sluice.track('after'); sluice.identify({ email: 'ann@x.io' }); scrollTo(0, 3000)`,
    )
    const sent = web.service.sent.length
    expect([await kept(context, page), await page.evaluate('sluice.visitorId()')]).toEqual([CHOICE_ONLY, null])
    await page.goto(web.site.at(SHOP, '/next'))
    await page.evaluate(`sluice.track('after'); sluice.consent(true); sluice.track('whatever consent says')`)
    await web.leave(page)
    expect(web.service.sent).toHaveLength(sent)

    await page.goto(web.site.at('app.shop.example', '/'))
    await until(() => page.evaluate<boolean>(`'version' in sluice`))
    expect(await page.evaluate('sluice.visitorId()')).toBeNull()
    await page.evaluate(`sluice.optOut(false); sluice.track('back')`)
    const events = await until(() => web.service.of('track').length === 2 && web.service.of('track'))
    expect(events[1]).toMatchObject({ event: 'back', visitorId: expect.stringMatching(/^[0-9a-f]{32}$/) as string })
    expect(events[1]?.['visitorId']).not.toBe(before)
    expect(events[1]).not.toHaveProperty('first.clickIds')
  })

  it('drops what still waited to be sent', async () => {
    const { context, page } = await web.visit()
    await page.goto(web.site.at(SHOP, '/'))
    await until(() => page.evaluate<boolean>(`'version' in sluice`))
    await context.setOffline(true)
    await page.evaluate(`sluice.track('offline'); sluice.optOut()`)
    await context.setOffline(false)
    expect(await kept(context, page)).toEqual(CHOICE_ONLY)
    await page.evaluate(`sluice.optOut(false); sluice.track('back')`)
    await until(() => web.service.of('track').length > 0)
    await web.leave(page)
    expect(web.service.of('track').map(({ event }) => event)).toEqual(['back'])
  })
})

describe('Global Privacy Control', () => {
  it('means no, whatever the page says', async () => {
    const { context, page } = await web.visit()
    await page.goto(web.site.at(SHOP, '/'))
    await until(() => page.evaluate<string | false>(`'version' in sluice && sluice.visitorId()`))
    await web.leave(page)
    const sent = web.service.sent.length
    await context.addInitScript(`Object.defineProperty(navigator, 'globalPrivacyControl', { value: true })`)
    await open(page)
    await page.evaluate(`sluice.consent(true); sluice.track('e'); sluice.identify({ email: 'ann@x.io' })`)
    expect([await page.evaluate('sluice.visitorId()'), await kept(context, page)]).toEqual([null, []])
    await page.goto(web.site.at(SHOP, '/'))
    await page.evaluate(`sluice.track('e')`)
    await web.leave(page)
    expect(web.service.sent).toHaveLength(sent)
  })
})
