/** The parts of the browser script that need no browser. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cleanUrl, pathOf } from '../../../src/sdk/browser/clean-url.ts'
import { composeRequest } from '../../../src/sdk/browser/compose-request.ts'
import { IDLE_AFTER_MS, startWatch } from '../../../src/sdk/browser/count-time.ts'
import { cutText } from '../../../src/sdk/browser/cut-text.ts'
import { decidePermission } from '../../../src/sdk/browser/decide-permission.ts'
import { decideTouches } from '../../../src/sdk/browser/decide-touches.ts'
import { backOff, classifyAnswer } from '../../../src/sdk/browser/classify-answer.ts'
import { listDomains, openCookies } from '../../../src/sdk/browser/open-cookies.ts'
import { openStore } from '../../../src/sdk/browser/open-store.ts'
import { MAX_HITS, MAX_LENGTH, pickBatch } from '../../../src/sdk/browser/pick-batch.ts'
import { randomId } from '../../../src/sdk/browser/random-id.ts'
import { reachDepths } from '../../../src/sdk/browser/reach-depths.ts'
import { outsideReferrer, readTouch } from '../../../src/sdk/browser/read-touch.ts'
import { makeShelf } from './make-shelf.ts'
import { findFaults } from './wire-format.ts'

describe('an address', () => {
  it.each([
    ['https://shop.example/a?b=1&c=%20d#top', 'https://shop.example/a?b=1&c=%20d'],
    ['https://shop.example/#/orders/7?tab=2', 'https://shop.example/#/orders/7'],
    ['https://shop.example/?a=1#!/orders', 'https://shop.example/?a=1#!/orders'],
    ['https://shop.example/#access_token=abc&state=1', 'https://shop.example/'],
    ['https://ann:pass@shop.example/a@b', 'https://shop.example/a@b'],
    ['https://shop.example/?&&x=', 'https://shop.example/?x='],
    ['https://shop.example/?a=1&reset_token=abc&b=2', 'https://shop.example/?a=1&b=2'],
    ['https://shop.example/?user[Password]=1', 'https://shop.example/'],
    ['https://shop.example/cb?code=abc&state=xyz', 'https://shop.example/cb?state=xyz'],
    [
      'https://shop.example/?author=ann&promo_code=X&keyword=y',
      'https://shop.example/?author=ann&promo_code=X&keyword=y',
    ],
    ['https://shop.example/?q=ann%40x.io&w=ann@x.io', 'https://shop.example/'],
    ['https://shop.example/?ann@x.io&bob@x.io=1&a=1', 'https://shop.example/?a=1'],
    ['https://shop.example/?q=a@b&handle=@ann', 'https://shop.example/?q=a@b&handle=@ann'],
    ['https://shop.example/users/ann@x.io/edit', 'https://shop.example/users/-/edit'],
    ['https://shop.example/@ann/react@18.2.0', 'https://shop.example/@ann/react@18.2.0'],
    ['https://shop.example/#/users/ann%40x.io', 'https://shop.example/#/users/-'],
    ['https://shop.example/?utm_source=a&gclid=b&email=ann', 'https://shop.example/?utm_source=a&gclid=b'],
    ['', ''],
  ])('%s is sent as %s', (url, expected) => {
    expect(cleanUrl(url)).toBe(expected)
    expect(cleanUrl(expected)).toBe(expected)
  })

  it('names the page by its path and route alone', () => {
    expect(pathOf('https://shop.example/a?b=1#top')).toBe('https://shop.example/a')
    expect(pathOf('https://shop.example/a?b=1#/route?c=2')).toBe('https://shop.example/a#/route')
  })

  const fill = (start: string, end: string, length: number) => start.padEnd(length - end.length, 'x') + end

  it.each([
    ['https://shop.example/a/', '', 'https://shop.example/a/'],
    ['https://shop.example/?a=1&b=', '', 'https://shop.example/?a=1'],
    ['https://shop.example/?a=1&q=', '@x.example', 'https://shop.example/?a=1'],
    ['https://shop.example/#/a/', 'ann@x.io', 'https://shop.example/#/a/'],
    ['https://ann:', '@shop.example', 'https://'],
  ])('is taken up to 2,048 characters, a longer one without what is cut through: %s…%s', (start, end, expected) => {
    expect(cleanUrl(fill(start, '', 2048))).toBe(fill(start, '', 2048))
    for (const length of [2049, 9000]) expect(cleanUrl(fill(start, end, length))).toBe(expected)
  })

  it('is always cleaned, and cleaning twice changes nothing', () => {
    fc.assert(
      fc.property(fc.oneof(fc.webUrl({ withQueryParameters: true, withFragments: true }), fc.string()), (url) => {
        const once = cleanUrl(url)
        expect(once.length).toBeLessThanOrEqual(url.length)
        expect(cleanUrl(once)).toBe(once)
      }),
    )
  })
})

describe('a text', () => {
  it('is cut at the limit, never through a character', () => {
    expect(cutText('abc', 3)).toBe('abc')
    expect(cutText('abcd', 3)).toBe('abc')
    expect(cutText('ab👋', 3)).toBe('ab')
    expect(cutText('ab👋', 4)).toBe('ab👋')
  })
})

const touchOf = (url: string, referrer = '', at = 0) => readTouch({ at, url, referrer }, 'shop.example')

describe('a visit', () => {
  it('names its campaign, its click ids and where it came from', () => {
    const query = 'utm_source=news&utm_medium=email&utm_campaign=may&utm_term=t&utm_content=c&utm_id=7'
    const ids = 'gclid=1&gbraid=2&wbraid=3&fbclid=4&msclkid=5&ttclid=6'
    expect(touchOf(`https://shop.example/a?${query}&${ids}&x=y`, 'https://news.example/today?token=1', 5)).toEqual({
      at: 5,
      url: `https://shop.example/a?${query}&${ids}&x=y`,
      referrer: 'https://news.example/today',
      utm: { source: 'news', medium: 'email', campaign: 'may', term: 't', content: 'c', id: '7' },
      clickIds: { gclid: '1', gbraid: '2', wbraid: '3', fbclid: '4', msclkid: '5', ttclid: '6' },
    })
  })

  it('without a campaign or click id has neither', () => {
    expect(touchOf('https://shop.example/?utm_source=&gclid')).toEqual({
      at: 0,
      url: 'https://shop.example/?utm_source=&gclid',
    })
  })

  it('keeps 512 characters of each', () => {
    const touch = touchOf(`https://shop.example/?utm_source=${'x'.repeat(512)}&gclid=${'y'.repeat(513)}`)
    expect([touch.utm?.['source'], touch.clickIds?.['gclid'], touch.url.length]).toEqual([
      'x'.repeat(512),
      'y'.repeat(512),
      512,
    ])
  })

  it.each([
    ['https://shop.example/a', undefined],
    ['https://www.shop.example/a', undefined],
    ['https://myshop.example/a', 'https://myshop.example/a'],
    ['android-app://com.example.mail/', 'android-app://com.example.mail/'],
    ['', undefined],
    ['nonsense', undefined],
  ])('that came from %s came from %s', (referrer, expected) => {
    expect(outsideReferrer(referrer, 'shop.example')).toBe(expected)
  })
})

describe('first and latest', () => {
  const plain = touchOf('https://shop.example/')
  const ad = touchOf('https://shop.example/?gclid=1', '', 10)
  const MINUTE = 60_000

  it('begin with the first visit, whatever it was', () => {
    expect(decideTouches(undefined, plain)).toEqual({ first: plain })
    expect(decideTouches(undefined, ad)).toEqual({ first: ad, latest: ad })
  })

  it('keep the first, and the latest that had a source', () => {
    const known = decideTouches(undefined, ad)
    expect(decideTouches(known, touchOf('https://shop.example/', '', 99))).toEqual(known)
    const news = touchOf('https://shop.example/', 'https://news.example/', 99)
    expect(decideTouches(known, news)).toEqual({ first: ad, latest: news })
  })

  it('take a reload within half an hour for the same visit, as it comes back from storage', () => {
    const known = JSON.parse(JSON.stringify(decideTouches(undefined, ad))) as ReturnType<typeof decideTouches>
    const again = (at: number) => decideTouches(known, { ...ad, at }).latest?.at
    expect(again(ad.at + 30 * MINUTE)).toBe(ad.at)
    expect(again(ad.at + 30 * MINUTE + 1)).toBe(ad.at + 30 * MINUTE + 1)
    expect(decideTouches(known, touchOf('https://shop.example/?gclid=2', '', 11)).latest?.at).toBe(11)
  })
})

describe('permission', () => {
  it.each([
    [false, null, false, 'granted'],
    [false, null, true, 'pending'],
    [false, 'in', true, 'pending'],
    [false, 'in', false, 'granted'],
    [false, 'yes', true, 'granted'],
    [false, 'no', true, 'refused'],
    [false, 'no', false, 'refused'],
    [false, 'out', false, 'refused'],
    [true, null, false, 'refused'],
    [true, 'yes', true, 'refused'],
  ] as const)('with privacy control %s, choice %s, consent required %s is %s', (control, choice, required, decided) => {
    expect(decidePermission(control, choice, required)).toBe(decided)
  })
})

describe('cookies', () => {
  it.each([
    ['shop.example', ['shop.example']],
    ['a.b.shop.co.uk', ['co.uk', 'shop.co.uk', 'b.shop.co.uk', 'a.b.shop.co.uk']],
    ['localhost', []],
    ['127.0.0.1', []],
    ['[::1]', []],
  ])('for a page at %s are tried on %s', (hostname, domains) => {
    expect(listDomains(hostname)).toEqual(domains)
  })

  /** A browser that knows one public suffix. */
  function jarOf(suffix: string): { cookie: string; written: string[] } {
    const held = new Map<string, string>()
    const written: string[] = []
    return {
      written,
      get cookie() {
        return [...held].map(([name, value]) => `${name}=${value}`).join('; ')
      },
      set cookie(text: string) {
        written.push(text)
        const [pair = '', ...attributes] = text.split('; ')
        const [name = '', value = ''] = pair.split('=')
        if (attributes.includes(`domain=${suffix}`)) return
        if (attributes.includes('max-age=0')) held.delete(name)
        else held.set(name, value)
      },
    }
  }

  it('go on the registrable domain, for a year, and leave no probe', () => {
    const jar = jarOf('co.uk')
    const cookies = openCookies(jar, { hostname: 'www.shop.co.uk', protocol: 'https:' })
    cookies.set('a', '1')
    expect(jar.written.at(-1)).toBe('a=1; path=/; max-age=31536000; samesite=lax; domain=shop.co.uk; secure')
    expect([cookies.site(), cookies.get('a'), jar.cookie]).toEqual(['shop.co.uk', '1', 'a=1'])
    cookies.remove('a')
    expect(jar.cookie).toBe('')
  })

  it('go on the host alone where there is no domain, and are not Secure on http', () => {
    const jar = jarOf('')
    openCookies(jar, { hostname: 'localhost', protocol: 'http:' }).set('a', '1')
    expect(jar.written).toEqual(['a=1; path=/; max-age=31536000; samesite=lax'])
  })

  it('do nothing where they are denied', () => {
    const jar = {
      get cookie(): string {
        throw new Error('denied')
      },
      set cookie(_text: string) {
        throw new Error('denied')
      },
    }
    const cookies = openCookies(jar, { hostname: 'www.shop.example', protocol: 'https:' })
    cookies.set('a', '1')
    expect([cookies.get('a'), cookies.site()]).toEqual([null, 'www.shop.example'])
  })

  it('find a cookie by its whole name', () => {
    const cookies = openCookies({ cookie: 'xa=1; a=2; ab=3' }, { hostname: 'localhost', protocol: 'http:' })
    expect([cookies.get('a'), cookies.get('b'), cookies.get('ab')]).toEqual(['2', null, '3'])
  })
})

describe('the store', () => {
  it('keeps values in storage, and in memory what storage does not take', () => {
    const shelf = makeShelf(1)
    const store = openStore(() => shelf)
    store.set('a', '1')
    store.set('b', '2')
    expect([Object.keys(shelf), store.keys(), store.get('a'), store.get('b')]).toEqual([['a'], ['b', 'a'], '1', '2'])
    store.remove('a')
    store.set('b', '3')
    expect([store.keys(), store.get('b'), shelf.getItem('b')]).toEqual([['b'], '3', '3'])
  })

  it('knows what ends with the page', () => {
    const shelf = makeShelf(1)
    const store = openStore(() => shelf)
    store.set('a', '1')
    store.set('b', '2')
    expect(['a', 'b'].map(store.lasts)).toEqual([true, false])
  })

  it('works where storage is denied', () => {
    const store = openStore(() => {
      throw new Error('SecurityError')
    })
    store.set('a', '1')
    expect([store.get('a'), store.get('b'), store.keys()]).toEqual(['1', null, ['a']])
    store.remove('a')
    expect([store.get('a'), store.keys()]).toEqual([null, []])
  })
})

describe('an answer', () => {
  it.each([
    [200, null, { keep: false, failed: false }],
    [202, null, { keep: false, failed: false }],
    [400, null, { keep: false, failed: false }],
    [403, null, { keep: false, failed: false }],
    [413, null, { keep: false, failed: false }],
    [408, null, { keep: true, failed: false }],
    [429, '7', { keep: true, pauseMs: 7_000 }],
    [503, '0', { keep: true, pauseMs: 1_000 }],
    [503, '1', { keep: true, pauseMs: 1_000 }],
    [429, '-5', { keep: true, pauseMs: 30_000 }],
    [503, '999999', { keep: true, pauseMs: 3_600_000 }],
    [429, null, { keep: true, pauseMs: 30_000 }],
    [429, 'Wed, 21 Oct 2026 07:28:00 GMT', { keep: true, pauseMs: 30_000 }],
    [500, null, { keep: true, failed: true }],
    [502, null, { keep: true, failed: false }],
    [0, null, { keep: true, failed: false }],
  ])('with status %s and Retry-After %s means %o', (status, retryAfter, verdict) => {
    expect(classifyAnswer(status, retryAfter)).toEqual(verdict)
  })

  it('that does not come makes the waits longer, up to a minute', () => {
    expect([0, 1, 2, 5, 6, 99].map((failures) => backOff(failures, 1))).toEqual([1000, 2000, 4000, 32000, 60000, 60000])
    expect(backOff(0, 0)).toBe(500)
  })
})

const hit = (at: number, body: object = { kind: 'scroll' }) => ({
  route: 'capture' as const,
  at,
  key: `${at}`,
  body: { id: `h${at}`, pageId: 'p', url: 'https://shop.example/', ...body },
})
const call = (at: number) => ({ route: 'track' as const, at, key: `${at}`, body: { event: 'e', messageId: `m${at}` } })

describe('a batch', () => {
  it('is the oldest call by itself, or the oldest hits together', () => {
    expect(pickBatch([])).toEqual([])
    expect(pickBatch([call(1), call(2), hit(3)])).toEqual([call(1)])
    expect(pickBatch([hit(1), call(2), hit(3)])).toEqual([hit(1), hit(3)])
  })

  it('holds no more hits and characters than fit', () => {
    const many = Array.from({ length: MAX_HITS + 1 }, (_, at) => hit(at))
    expect(pickBatch(many.slice(1))).toHaveLength(MAX_HITS)
    expect(pickBatch(many)).toHaveLength(MAX_HITS)
    const rest = JSON.stringify(hit(1).body).length
    const filling = hit(2, { kind: 'scroll', title: 'x'.repeat(MAX_LENGTH - 2 * rest - ',"title":""'.length) })
    expect(pickBatch([hit(1), filling])).toHaveLength(2)
    const overflowing = hit(2, { ...filling.body, title: `${String(filling.body['title' as never])}x` })
    expect(pickBatch([hit(1), overflowing, hit(3)])).toHaveLength(1)
    expect(pickBatch([hit(0, { title: 'x'.repeat(MAX_LENGTH) })])).toHaveLength(1)
  })
})

describe('a request', () => {
  const caller = { businessId: '0198c5a0-7d1e-7c3b-9f59-0d7a4f1f6d11', visitorId: '0'.repeat(32) }
  const touches = decideTouches(undefined, touchOf('https://shop.example/?gclid=1', '', 40))
  const compose = (...batch: Parameters<typeof composeRequest>[0]) =>
    JSON.parse(composeRequest(batch, caller, touches, 100)) as Record<string, unknown>

  it('has ages instead of times, and how the visitor came', () => {
    const first = { url: 'https://shop.example/?gclid=1', clickIds: { gclid: '1' }, ageMs: 60 }
    const body = compose(call(99))
    expect(body).toEqual({ ...caller, event: 'e', messageId: 'm99', ageMs: 1, first, latest: first })
    expect(findFaults('track', body)).toEqual([])
  })

  it('has no age below zero when the clock was set back', () => {
    expect(compose(call(101))['ageMs']).toBe(0)
  })

  it('says with captured hits how the visitor came once a page load', () => {
    const begin = compose(hit(90, { kind: 'page_view' }), hit(95, { kind: 'scroll', depth: 25 }))
    expect(begin).toMatchObject({
      hits: [
        { id: 'h90', ageMs: 10 },
        { id: 'h95', ageMs: 5 },
      ],
      first: { ageMs: 60 },
    })
    expect(findFaults('capture', begin)).toEqual([])
    expect(Object.keys(compose(hit(95)))).toEqual(['businessId', 'visitorId', 'hits'])
  })

  it('has what the page said of a person and how long ago, and nothing more', () => {
    const body = compose({ route: 'identify', at: 1, key: 'k', body: { identity: { email: 'a@x.io' } } })
    expect(body).toEqual({ ...caller, identity: { email: 'a@x.io' }, ageMs: 99 })
  })

  it('fits 64 KiB when everything in it is as long as it can be', () => {
    const long = '界'.repeat(512)
    const visit = {
      at: 0,
      url: long,
      referrer: long,
      utm: fill('source medium campaign term content id', long),
      clickIds: fill('gclid gbraid wbraid fbclid msclkid ttclid', long),
    }
    const full = { first: visit, latest: visit }
    const hits = Array.from({ length: MAX_HITS }, (_, at) => hit(at, { kind: 'page_view', title: '界'.repeat(256) }))
    const json = composeRequest(pickBatch(hits), caller, full, 1e12)
    expect(new TextEncoder().encode(json).length).toBeLessThanOrEqual(65_536)
  })
})

const fill = (names: string, value: string) => Object.fromEntries(names.split(' ').map((name) => [name, value]))

describe('time', () => {
  it('is active until half a minute after the last sign of life, then idle', () => {
    const watch = startWatch()
    watch.touch(1000, true)
    expect(watch.read(1000 + IDLE_AFTER_MS)).toEqual({ activeMs: IDLE_AFTER_MS, idleMs: 0 })
    expect(watch.read(1000 + IDLE_AFTER_MS + 1)).toEqual({ activeMs: IDLE_AFTER_MS, idleMs: 1 })
    watch.touch(1000 + IDLE_AFTER_MS + 11, true)
    expect(watch.read(1000 + IDLE_AFTER_MS + 15)).toEqual({ activeMs: IDLE_AFTER_MS + 4, idleMs: 11 })
    watch.reset(1000 + IDLE_AFTER_MS + 15)
    expect(watch.read(1000 + IDLE_AFTER_MS + 15)).toEqual({ activeMs: 0, idleMs: 0 })
  })

  it('on a hidden page is not counted, and coming back is a sign of life', () => {
    const watch = startWatch()
    watch.touch(0, true)
    watch.touch(100, false)
    watch.touch(1e7, true)
    expect(watch.read(1e7 + 5)).toEqual({ activeMs: 105, idleMs: 0 })
  })

  it('does not run backwards with the clock', () => {
    const watch = startWatch()
    watch.touch(1000, true)
    expect(watch.read(500)).toEqual({ activeMs: 0, idleMs: 0 })
  })

  it('is never lost or invented: active and idle time add up to the time seen', () => {
    const step = fc.record({ after: fc.nat(100_000), seen: fc.boolean() })
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const watch = startWatch()
        let [now, seen, total] = [0, false, 0]
        for (const { after, seen: next } of steps) {
          now += after
          if (seen) total += after
          watch.touch(now, next)
          seen = next
        }
        const { activeMs, idleMs } = watch.read(now)
        expect(activeMs + idleMs).toBe(total)
        expect(Math.min(activeMs, idleMs)).toBeGreaterThanOrEqual(0)
      }),
    )
  })
})

describe('depth', () => {
  it.each([
    [0, 800, 4000, []],
    [1, 800, 4000, []],
    [200, 800, 4000, [25]],
    [198, 800, 4000, []],
    [1200, 800, 4000, [25, 50]],
    [3199, 800, 4000, [25, 50, 75, 100]],
    [10, 800, 810, [25, 50, 75, 100]],
    [-5, 800, 4000, []],
  ])('scrolled %i with %i of %i is %o', (scrolled, viewport, height, depths) => {
    expect(reachDepths(scrolled, viewport, height)).toEqual(depths)
  })
})

describe('an id', () => {
  it('is 128 random bits in hex', () => {
    const ids = Array.from({ length: 100 }, randomId)
    expect(new Set(ids).size).toBe(100)
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/)
  })
})
