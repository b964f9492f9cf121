// @long
/**
 * Push messages, from a visitor's click to the notification: a page, its service worker, the front door and a push
 * service. Chromium subscribes only at its maker's push service, which tests cannot reach: here, a replacement for
 * `PushManager.subscribe` is used, and DevTools deliver the messages.
 */
import type { BrowserContext, Page, Worker } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SECRETS_KEY } from '../../deliveries/delivery-lab.ts'
import { BROWSER, speakTo } from '../../front-door/http-client.ts'
import { type PushService, type TestBrowser, openPushService } from '../../messages/push/push-service.ts'
import { type Service, openService } from '../../support/service.ts'
import { type TestBusiness, createBusiness } from '../../support/stack.ts'
import { until } from './open-chromium.ts'
import { SNIPPET, page as pageOf } from './open-site.ts'
import { openWeb } from './open-web.ts'

const web = openWeb()
let service: Service
let pushService: PushService
let business: TestBusiness
const checksTls = process.env['NODE_TLS_REJECT_UNAUTHORIZED']
beforeAll(async () => {
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
  service = await openService({ SECRETS_KEY, ALLOW_LOOPBACK_TARGETS: 'true' })
  pushService = await openPushService()
  business = await createBusiness(service.sql)
  await call('PUT', '/api/channels/push', { provider: 'webpush', subject: 'mailto:push@shop.example' })
})
afterAll(async () => {
  if (checksTls === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED']
  else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = checksTls
  await pushService.close()
  await service.close()
})

const call = async (method: string, path: string, json?: object) =>
  (await speakTo(service.url)(method, path, { key: business.secretKey, ...(json && { json }) })).body.data

/**
 * Pages on these hosts count as secure without HTTPS. Each test has its own host, because DevTools also list the
 * workers of earlier ones.
 */
let shops = 0
const nextHost = (): string => `shop${(shops += 1)}.localhost`

interface Shop {
  context: BrowserContext
  page: Page
  complaints: string[]
  visitorId: string
  browser: TestBrowser
}

/** Replaces the browser's push manager. It gives each worker one subscription, as the original does. */
const fakePushManager = ({ subscription }: TestBrowser): string => `
  window.held = null
  PushManager.prototype.getSubscription = async () => window.held
  PushManager.prototype.subscribe = async function ({ userVisibleOnly, applicationServerKey }) {
    if (!userVisibleOnly) throw new Error('not allowed')
    const text = atob(applicationServerKey.replaceAll('-', '+').replaceAll('_', '/'))
    window.held = {
      options: { applicationServerKey: Uint8Array.from(text, (one) => one.charCodeAt(0)).buffer },
      toJSON: () => (${JSON.stringify(subscription)}),
      unsubscribe: async () => { window.held = null; return true },
    }
    return window.held
  }`

async function openShop({ allowed = true, attributes = '' } = {}): Promise<Shop> {
  web.site.pages['/push'] = pageOf(
    `${SNIPPET}<script async src="${service.url}/sluice.js" data-business="${business.businessId}" data-autocapture="off" ${attributes}></script>`,
  )
  web.site.pages['/sluice-push-sw.js'] = `importScripts('${service.url}/sluice-push-sw.js')`
  web.site.pages['/broken.js'] = 'throw new Error("broken")'
  const { context, page, complaints } = await web.visit({ userAgent: BROWSER['user-agent'] })
  const browser = pushService.subscribe()
  await page.addInitScript(fakePushManager(browser))
  const url = web.site.at(nextHost(), '/push')
  if (allowed) await context.grantPermissions(['notifications'], { origin: new URL(url).origin })
  await page.goto(url)
  const visitorId =
    attributes !== '' ? '' : await until(() => page.evaluate<string | false>(`sluice.visitorId?.() || false`))
  return { context, page, complaints, visitorId, browser }
}

const push = ({ page }: Shop, options = ''): Promise<string> =>
  page.evaluate<string>(`new Promise((done) => sluice.push({ ${options} done }))`)

const kept = (visitorId: string) =>
  service.sql<{ endpoint: string }[]>`select endpoint from push_subscriptions where visitor_id = ${visitorId}`

/**
 * Returns the worker, which counts the notifications that it has shown. A query for notifications would remove one that
 * is just being shown.
 */
async function workerOf({ context }: Shop): Promise<Worker> {
  const worker = await until(() => Promise.resolve(context.serviceWorkers()[0]))
  await worker.evaluate(`{
    self.shown = 0
    const show = registration.showNotification.bind(registration)
    registration.showNotification = (...given) => show(...given).then(() => void (self.shown += 1))
  }`)
  return worker
}

const hasShown = (worker: Worker, many: number): Promise<boolean> =>
  until(() => worker.evaluate<boolean>(`self.shown === ${many}`))

/** Delivers data as the browser's push service does. */
async function deliver({ context, page }: Shop, data: string): Promise<void> {
  const devtools = await context.newCDPSession(page)
  const { origin } = new URL(page.url())
  const found = new Promise<string>((resolve) =>
    devtools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const one = registrations.find(({ scopeURL }) => scopeURL.startsWith(origin))
      if (one) resolve(one.registrationId)
    }),
  )
  await devtools.send('ServiceWorker.enable')
  await devtools.send('ServiceWorker.deliverPushMessage', { origin, registrationId: await found, data })
}

const notifications = (page: Page) =>
  page.evaluate<{ title: string; body: string; tag: string; lang: string }[]>(`
    navigator.serviceWorker.ready.then((ready) => ready.getNotifications()).then((all) =>
      all.map(({ title, body, tag, lang }) => ({ title, body, tag, lang })))`)

describe('a visitor', () => {
  it('subscribes, and is shown what is sent to the contact', async () => {
    const shop = await openShop()
    expect(await push(shop)).toBe('subscribed')
    expect(await kept(shop.visitorId)).toEqual([{ endpoint: shop.browser.subscription.endpoint }])
    const identity = { email: 'ann@x.io' }
    const { contactId } = await call('POST', '/api/sdk/identify', { identity, visitorId: shop.visitorId })
    expect(await call('POST', '/api/channels/push/test', { to: contactId })).toMatchObject({ outcome: 'accepted' })
    const [received] = shop.browser.received
    const worker = await workerOf(shop)
    await deliver(shop, JSON.stringify(received))
    await hasShown(worker, 1)
    const text = expect.stringContaining('This is a test message of') as string
    expect(await notifications(shop.page)).toEqual([
      { title: 'Test message', body: text, tag: received?.['sluice'], lang: 'en' },
    ])
    // The same message again, and messages of other senders.
    await deliver(shop, JSON.stringify(received))
    await deliver(shop, 'not ours')
    await deliver(shop, '{"title":"not ours"}')
    await deliver(shop, JSON.stringify({ ...received, sluice: 'another' }))
    await hasShown(worker, 3)
    expect(await notifications(shop.page)).toHaveLength(2)
  })

  it('subscribes again with what there is, and anew where the key is another one', async () => {
    const shop = await openShop()
    await push(shop)
    await shop.page.evaluate(`window.first = window.held`)
    expect(await push(shop)).toBe('subscribed')
    expect(await shop.page.evaluate(`window.first === window.held`)).toBe(true)
    await shop.page.evaluate(`window.held.options.applicationServerKey = new Uint8Array(65).buffer`)
    expect(await push(shop)).toBe('subscribed')
    expect(await shop.page.evaluate(`window.first === window.held`)).toBe(false)
    expect(await kept(shop.visitorId)).toHaveLength(1)
  })

  it('unsubscribes, and leaves what others have in the page', async () => {
    const shop = await openShop()
    await push(shop)
    await shop.page.evaluate(`sluice.push(false)`)
    await until(() => shop.page.evaluate<boolean>(`window.held === null`))
    expect(await kept(shop.visitorId)).toEqual([])
    await push(shop)
    await shop.page.evaluate(`window.held.options.applicationServerKey = new Uint8Array(65).buffer`)
    await shop.page.evaluate(`sluice.push(false)`)
    await until(async () => (await kept(shop.visitorId)).length === 0)
    expect(await shop.page.evaluate(`window.held !== null`)).toBe(true)
  })

  it('opens the address of a message with a click, in the window that has it or in a new one', async () => {
    const shop = await openShop()
    await push(shop)
    const worker = await workerOf(shop)
    // A synthetic click cannot open a window, so the worker's request for one is recorded.
    await worker.evaluate(`
      self.asked = []
      clients.openWindow = async (url) => void asked.push('open ' + url)
      clients.matchAll = async () => [{ url: registration.scope + 'push', focus: async () => void asked.push('focus') }]`)
    const click = async (url: string | undefined, many: number) => {
      await deliver(shop, JSON.stringify({ sluice: url ?? 'none', title: 'Hi', body: 'There', lang: 'en', url }))
      await hasShown(worker, many)
      await worker.evaluate(`
        registration.getNotifications().then(([notification]) =>
          dispatchEvent(new NotificationEvent('notificationclick', { notification })))`)
      await until(async () => (await notifications(shop.page)).length === 0)
      await until(() => worker.evaluate<boolean>(`self.asked.length === ${many}`))
    }
    const root = `${new URL(shop.page.url()).origin}/`
    for (const [at, url] of ['https://shop.example/news', '/pricing', `${root}push`, undefined].entries())
      await click(url, at + 1)
    expect(await worker.evaluate(`self.asked`)).toEqual([
      'open https://shop.example/news',
      `open ${root}pricing`,
      'focus',
      `open ${root}`,
    ])
  })
})

describe('a page learns', () => {
  it('that the visitor does not want messages', async () => {
    const shop = await openShop({ allowed: false })
    expect(await push(shop)).toBe('denied')
    expect(await kept(shop.visitorId)).toEqual([])
  })

  it('that the browser cannot take them', async () => {
    const shop = await openShop()
    await shop.page.evaluate(`delete window.PushManager`)
    expect(await push(shop)).toBe('unsupported')
  })

  it('that its service worker is missing, and why on the console', async () => {
    const shop = await openShop()
    expect(await push(shop, `worker: '/broken.js',`)).toBe('failed')
    expect(shop.complaints.splice(0)).toHaveLength(1)
    expect(await kept(shop.visitorId)).toEqual([])
  })

  it('that nothing may be kept before consent', async () => {
    const shop = await openShop({ attributes: 'data-consent="required"' })
    await until(() => shop.page.evaluate<boolean>(`!!sluice.version`))
    expect(await push(shop)).toBe('failed')
    expect(shop.complaints.splice(0)).toEqual([expect.stringContaining('consent') as string])
    await shop.page.evaluate(`sluice.consent(true)`)
    expect(await push(shop)).toBe('subscribed')
  })
})
