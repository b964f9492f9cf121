/**
 * `bun test/dashboard/docs-images.ts [NAME …]`: takes the screenshots of README.md and docs/dashboard.md anew, of a new
 * installation with the demo data; with names, such as `sql`, only these. Takes a minute or two.
 */
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import type { DemoKeys } from '../../src/embedded/demo-business.ts'
import { openHeadlessShell, until } from '../sdk/browser/open-chromium.ts'

const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url))
const IMAGES = fileURLToPath(new URL('../../docs/images/', import.meta.url))
const WIDTH = 1280
const wanted = process.argv.slice(2)
/** Time for charts, and for figures that arrive a moment after the page. */
const SETTLE_MS = 3000

const STATEMENT = `select event, count() as times, uniqExact(contact_id) as contacts
from timeline
group by event
order by times desc`

const folder = mkdtempSync(join(tmpdir(), 'sluice-images-'))
const port = await freePort()
const env = { ...process.env, DATA_DIR: join(folder, 'data'), HOST: '127.0.0.1', PORT: String(port) }
const origin = `http://127.0.0.1:${port}`
const service = spawn(process.execPath, [CLI, 'start'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
const ended = new Promise((resolve) => service.once('exit', resolve))
let printed = ''
service.stdout.on('data', (text: Buffer) => (printed += text.toString()))
try {
  const link = await until(() => /\S+\/dashboard\/link#\S+/.exec(printed)?.[0])
  execFileSync(process.execPath, [CLI, 'admin', 'demo'], { env, stdio: 'inherit' })
  await takePictures(link, JSON.parse(readFileSync(join(env.DATA_DIR, 'demo-keys.json'), 'utf8')) as DemoKeys)
} finally {
  service.kill()
  await ended
  rmSync(folder, { recursive: true })
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port: free } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return free
}

async function takePictures(link: string, { businessId, secretKey }: DemoKeys): Promise<void> {
  const call = async (path: string, body?: object): Promise<Record<string, unknown>> => {
    const response = await fetch(`${origin}/api/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { Authorization: `Bearer ${secretKey}`, 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    return ((await response.json()) as { data: Record<string, unknown> }).data
  }
  const idOf = async (list: string, id: string, name: string): Promise<string> => {
    const found = ((await call(list))[list] as Record<string, string>[]).find((one) => one['name'] === name)
    if (found?.[id] === undefined) throw new Error(`the demo has no ${name} among its ${list}`)
    return found[id]
  }
  const browser = await openHeadlessShell()
  try {
    const context = await browser.newContext({ locale: 'en-US', colorScheme: 'light', reducedMotion: 'reduce' })
    const page = await context.newPage()
    const at = `${origin}/dashboard/b/${businessId}`
    const take = async (name: string, path: string, height: number, open?: (page: Page) => Promise<void>) => {
      if (wanted.length > 0 && !wanted.includes(name)) return
      await page.setViewportSize({ width: WIDTH, height })
      await page.goto(at + path)
      await page.locator('h1').first().waitFor()
      await open?.(page)
      await page.waitForTimeout(SETTLE_MS)
      await page.screenshot({ path: join(IMAGES, `${name}.png`) })
      console.log(name)
    }
    await signIn(page, link)
    await take('contacts', '/contacts', 860)
    await take('contact', `/contacts/${await customer(call)}`, 860)
    await take('segment', `/segments/${await idOf('segments', 'segmentId', 'Trial, but no payment')}/edit`, 860)
    const campaignId = await idOf('campaigns', 'campaignId', 'Trial lesson')
    await take('campaign-editor', `/campaigns/${campaignId}/edit`, 1500)
    await take('template', `/templates/${await idOf('templates', 'templateId', 'Your trial lesson')}`, 1100)
    await take('sql', '/sql', 800, runStatement)
    await sendRequests(call)
    await take('live', '/live', 860)
    await sendRequests(call)
    await take('home', '', 1240)
  } finally {
    await browser.close()
  }
}

async function signIn(page: Page, link: string): Promise<void> {
  await page.goto(link)
  await page.getByLabel('Email address').fill('ada@example.com')
  await page.locator('input[type=password]').fill(crypto.randomUUID())
  await page.locator('form button[type=submit]').click()
  await page.waitForURL(/\/dashboard\/(b\/|$|\?)/)
}

type Call = (path: string, body?: object) => Promise<Record<string, unknown>>

/** Returns a person who has paid and has a name that readers of English can read. */
async function customer(call: Call): Promise<string> {
  const { contacts } = (await call('contacts?tag=customer')) as { contacts: Listed[] }
  const found = contacts.find(({ firstName }) => /^[A-Z][a-z]+$/.test(firstName ?? ''))
  if (found === undefined) throw new Error('the demo has no customer')
  return found.contactId
}

interface Listed {
  contactId: string
  firstName?: string | null
}

async function runStatement(page: Page): Promise<void> {
  const editor = page.locator('.cm-content')
  await editor.fill(STATEMENT)
  const completions = page.locator('.cm-tooltip-autocomplete')
  await completions.waitFor()
  await editor.press('Escape')
  await completions.waitFor({ state: 'detached' })
  // The first run is slower, because ClickHouse has just started.
  for (const _ of ['first', 'second']) {
    await page.getByRole('button', { name: 'Run' }).click()
    await page.getByRole('grid').waitFor()
    await page.waitForLoadState('networkidle')
  }
}

/** Most of them succeed. */
async function sendRequests(call: Call): Promise<void> {
  const identity = (n: number) => ({ platformCustomerId: `demo-${n}` })
  const events = ['signup', 'lesson_finished', 'appointment_booked', 'lesson_finished', 'appointment_attended']
  for (const [n, event] of [...events, ...events].entries())
    await call('sdk/track', { event, identity: identity(n + 1) })
  await call('sdk/track', { event: 'purchase', identity: identity(3), value: 240, currency: 'EUR' })
  await call('sdk/track', { event: 'purchase', identity: identity(4), value: 240 })
  await call('sdk/track', { event: 'lesson_finished' })
  const items = [1, 2, 3].map((n) => ({ event: 'lesson_finished', identity: n < 3 ? identity(n) : {} }))
  await call('sdk/track/batch', { events: items })
  await call('sdk/identify', { identity: identity(5), profile: { city: 'Leeds' } })
}
