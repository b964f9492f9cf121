// @pages
/** A page of another origin cannot put the dashboard into a frame, in a real Chromium. */
import { once } from 'node:events'
import { type Server, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { PATIENCE_MS } from '../support/at-load.ts'
import { type Dashboard, openDashboard } from './open-dashboard.ts'
import { signIn } from './session-client.ts'

let dashboard: Dashboard
let other: Server
let port: number
beforeAll(async () => {
  dashboard = await openDashboard()
  other = createServer((request, response) => {
    response.setHeader('Content-Type', 'text/html; charset=utf-8')
    const target = new URL(request.url ?? '/', 'http://x').searchParams
    const [tag, of] = [target.get('tag'), target.get('of')]
    const source = { iframe: 'src', embed: 'src', object: 'data' }[tag ?? '']
    response.end(
      tag === null ? '<h1>Mine</h1>' : `<h1>Evil</h1><${tag} ${source}="${of}" width="900" height="600"></${tag}>`,
    )
  })
  other.listen(0)
  await once(other, 'listening')
  ;({ port } = other.address() as AddressInfo)
})
afterAll(async () => {
  other.close()
  await dashboard.close()
})

/** Returns the texts in the frames of a page that frames `of`. */
async function framed(host: string, tag: string, of: string): Promise<string[]> {
  const { service, browser } = dashboard
  const context = await browser.newContext()
  context.setDefaultTimeout(PATIENCE_MS)
  const [name = '', value = ''] = (await signIn(service, 'owner@x.io')).cookie().split('=')
  await context.addCookies([{ name, value, url: service.url }])
  try {
    const page = await context.newPage()
    await page.goto(`http://${host}:${port}/?${new URLSearchParams({ tag, of }).toString()}`, { waitUntil: 'load' })
    const frames = page.frames().filter((frame) => frame !== page.mainFrame())
    return await Promise.all(
      frames.map(async (frame) => {
        const read = frame.waitForLoadState('load').then(() => frame.locator('body').innerText())
        // An <object> has no frame when its page is refused.
        return read.then(
          (text) => `${frame.url()} ${text}`,
          (error: unknown) => (frame.isDetached() ? 'no frame' : Promise.reject(error as Error)),
        )
      }),
    )
  } finally {
    await context.close()
  }
}

it.each(['iframe', 'embed', 'object'])('not in an %s of another site or port', async (tag) => {
  const { service, businessId } = dashboard
  for (const host of ['localhost', '127.0.0.1']) {
    for (const path of ['/dashboard', `/dashboard/b/${businessId}/settings/keys`]) {
      for (const text of await framed(host, tag, service.url + path)) {
        expect(text).not.toContain(service.url)
        expect(text).not.toMatch(/API keys|Home|Sign in/)
      }
    }
  }
})

it.each(['iframe', 'embed', 'object'])('while a page that allows it is shown in an %s', async (tag) => {
  expect(await framed('127.0.0.1', tag, `http://127.0.0.1:${port}/`)).toEqual([`http://127.0.0.1:${port}/ Mine`])
})
