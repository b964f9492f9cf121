// @pages
/**
 * Every page, light and dark, narrow and wide: axe finds no barriers, nothing scrolls sideways, and the console has no
 * errors. `bun test/dashboard/screenshots.ts FOLDER` also keeps a screenshot of each.
 */
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { Page } from 'playwright-core'
import { PAGE_PATHS } from '../../src/dashboard/src/pages.ts'
import { insertKey } from '../../src/businesses/keys.ts'
import {
  COLORS,
  type Dashboard,
  endAnimations,
  findBarriers,
  openDashboard,
  openPalette,
  SIZES,
  settle,
  type Visit,
} from './open-dashboard.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { sendCampaign } from './send-campaign.ts'
import { signIn } from './session-client.ts'

interface Shown extends Visit {
  name: string
  /** One of PAGE_PATHS with its parameters filled in, and with a query if it needs one. */
  path: () => string
  /** Opens the part to be checked. */
  open?: (page: Page) => Promise<void>
  isPolling?: boolean
}

let dashboard: Dashboard
let contactId: string
let segmentId: string
let campaignId: string
let templateId: string
let boardId: string
beforeAll(async () => {
  dashboard = await openDashboard()
  const { key } = await insertKey(dashboard.service.sql, dashboard.businessId, 'secret')
  contactId = await sendPurchase(key)
  segmentId = await sendSegment(key)
  const sent = await sendCampaign(dashboard.service, key, { steps: STEPS })
  ;({ campaignId, templateId } = sent)
  boardId = await sendBoard()
  await captureVisits(contactId)
  const suppressions = ['a@x.io', 'b@x.io'].map((address) => ({ channel: 'email', address, reason: 'complaint' }))
  await send(key, 'suppressions', { suppressions })
  const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
  const paid = { day, source: 'google', campaign: 'spring', currency: 'EUR' }
  await send(key, 'analytics/spend', {
    spend: [
      { ...paid, channel: 'paid_search', amount: 20 },
      { ...paid, channel: 'email', amount: '3.75' },
    ],
  })
})
afterAll(() => dashboard.close())

/** Creates what the pages of a business show. Returns the id of its contact. */
async function sendPurchase(key: string): Promise<string> {
  const trigger = { event: 'purchase' }
  const { campaign } = await send<{ campaign: { campaignId: string } }>(key, 'campaigns', { name: 'Welcome', trigger })
  await send(key, `campaigns/${campaign.campaignId}/publish`, {})
  const identity = { email: 'ann@x.io', phone: '+972541234567', platformCustomerId: 'c-1' }
  await send(key, 'sdk/identify', { identity, profile: { name: 'Ann Archer', country: 'FR', city: 'Lyon' } })
  const traits = { plan: 'pro', seats: 3 }
  const tags = ['vip', 'newsletter']
  const event = { event: 'purchase', identity, value: 49.9, currency: 'EUR', traits, tags }
  const { contactId: id } = await send<{ contactId: string }>(key, 'sdk/track', event)
  return id
}

/** From the contact's browser, and from an anonymous one. */
async function captureVisits(visitor: string): Promise<void> {
  const shared = { business_id: dashboard.businessId, kind: 'page_view', referrer: '', active_ms: 0, depth: 0 }
  const values = ['/', '/pricing', '/a-page-with-a-long-name/and-another-part/until-it-does-not-fit'].flatMap(
    (path, n) =>
      [visitor.replaceAll('-', ''), '9'.repeat(32)].map((visitor_id, at) => {
        const occurred_ms = Date.now() - n * 3_600_000 - at
        const url = `https://shop.example${path}${at === 1 ? '?utm_source=newsletter&utm_campaign=spring' : ''}`
        return { ...shared, visitor_id, hit_id: `h${n}`, page_id: `p${n}`, url, occurred_ms, received_ms: occurred_ms }
      }),
  )
  await dashboard.service.clickhouse.insert({ table: 'web_events', values, format: 'JSONEachRow' })
}

/** Waits for its members. */
async function sendSegment(key: string): Promise<string> {
  const rule = {
    all: [
      { attribute: 'country', operator: 'in', value: ['FR', 'DE'] },
      {
        any: [
          { tag: 'vip', operator: 'has' },
          { customField: 'plan', operator: 'equals', value: 'pro' },
        ],
      },
      { event: 'purchase', metric: 'last', operator: 'within_days', value: 30 },
      { not: { attribute: 'revenue', currency: 'EUR', operator: 'less_than', value: 20 } },
    ],
  }
  const { segment } = await send<{ segment: { segmentId: string } }>(key, 'segments', { name: 'Best buyers', rule })
  const { sql, shipped } = dashboard.service
  const isComputed = async () => (await sql`select 1 from segment_rules where state <> 'current'`).length === 0
  await vi.waitUntil(isComputed, { timeout: PATIENCE_MS })
  await shipped()
  return segment.segmentId
}

/** Has a chart of each shape. One of them is not for everybody. */
async function sendBoard(): Promise<string> {
  const marketer = await signIn(dashboard.service, 'marketer@x.io')
  const at = `/b/${dashboard.businessId}/boards`
  const { board } = (await marketer.send('POST', at, { name: 'Every morning' })).data as { board: { id: string } }
  const charts = [
    { title: 'Events', kind: 'series', query: { interval: 'day', compare: 'true' }, days: 7, page: 'analytics?days=7' },
    { title: 'Funnel', kind: 'funnel', query: { steps: '[{"event":"signup"},{"event":"purchase"}]' }, days: 30 },
    { title: 'By plan', kind: 'series', query: { breakdown: 'field:plan' }, days: 7, size: 'full' },
    { title: 'Comes back', kind: 'retention', query: { interval: 'week' }, days: 30 },
    { title: 'Scores', kind: 'engagement', query: {} },
  ]
  for (const chart of charts) {
    const body = { page: 'analytics', size: 'half', ...chart }
    expect(await marketer.send('POST', `${at}/${board.id}/charts`, body)).toMatchObject({ status: 200 })
  }
  return board.id
}

async function send<Data>(key: string, path: string, body: object): Promise<Data> {
  const response = await fetch(`${dashboard.service.url}/api/${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  return ((await response.json()) as { data: Data }).data
}

/** One of each kind, some inside others. */
const STEPS = [
  {
    type: 'wait_for',
    event: 'purchase',
    timeout: 'P7D',
    steps: [{ type: 'exit' }],
    otherwise: [{ type: 'wait_until', time: '09:00', weekdays: [1, 2, 3, 4, 5] }],
  },
  {
    type: 'branch',
    rule: {
      all: [
        { tag: 'vip', operator: 'has' },
        { attribute: 'country', operator: 'in', value: ['FR', 'DE'] },
      ],
    },
    steps: [
      {
        type: 'split',
        parts: [
          { percent: 12.5, steps: [{ type: 'wait', for: 'P1DT12H' }] },
          { percent: 87.5, steps: [] },
        ],
      },
    ],
    otherwise: [{ type: 'wait', for: 'PT90M' }],
  },
]

const settings = (page: string) => () => `/dashboard/b/${dashboard.businessId}/settings/${page}`

const segments = (path = '') => `/dashboard/b/${dashboard.businessId}/segments${path}`

const campaigns = (path = '') => `/dashboard/b/${dashboard.businessId}/campaigns${path}`

const analytics = (path = '') => `/dashboard/b/${dashboard.businessId}/analytics${path}`

const WHERE = '[{"property":"plan","operator":"equals","value":"pro"}]'
const SPEND = /^(Import spend|Ausgaben importieren|ייבוא הוצאות)$/
const SPEND_FILE = {
  name: 'spend.csv',
  mimeType: 'text/csv',
  buffer: Buffer.from('date,channel,source,campaign,cost\n2026-02-28,paid_search,google,spring,120.50\nx,email,,,1\n'),
}
const boards = (path = '') => `/dashboard/b/${dashboard.businessId}/boards${path}`

const RUN = /^(Run|Ausführen|הרצה)$/
const NO_ROWS = /^(No rows|Keine Zeilen|אין שורות)$/
const templates = (path = '') => `/dashboard/b/${dashboard.businessId}/templates${path}`

const SHOWN: Shown[] = [
  { name: 'home', path: () => `/dashboard/b/${dashboard.businessId}`, isPolling: true },
  { name: 'home-he', path: () => `/dashboard/b/${dashboard.businessId}`, language: 'he', isPolling: true },
  { name: 'contacts', path: () => `/dashboard/b/${dashboard.businessId}/contacts` },
  { name: 'contacts-none', path: () => `/dashboard/b/${dashboard.businessId}/contacts?query=nobody` },
  { name: 'contacts-he', path: () => `/dashboard/b/${dashboard.businessId}/contacts`, language: 'he' },
  { name: 'live', path: () => `/dashboard/b/${dashboard.businessId}/live`, isPolling: true },
  { name: 'contact', path: () => `/dashboard/b/${dashboard.businessId}/contacts/${contactId}` },
  { name: 'segments', path: () => segments() },
  { name: 'segment', path: () => segments(`/${segmentId}`) },
  { name: 'segment-changes', path: () => segments(`/${segmentId}?tab=changes`) },
  {
    name: 'segment-why',
    path: () => segments(`/${segmentId}?tab=why&contact=${contactId}`),
    open: async (page) => page.getByText('Is a member').waitFor(),
  },
  { name: 'new-segment', path: () => segments('/new') },
  { name: 'edit-segment', path: () => segments(`/${segmentId}/edit`) },
  { name: 'edit-segment-de', path: () => segments(`/${segmentId}/edit`), language: 'de' },
  { name: 'edit-segment-he', path: () => segments(`/${segmentId}/edit`), language: 'he' },
  { name: 'edit-segment-json', path: () => segments(`/${segmentId}/edit?view=json`) },
  { name: 'campaigns', path: () => campaigns() },
  { name: 'campaigns-he', path: () => campaigns(), language: 'he' },
  ...(['en', 'de', 'he'] as const).flatMap((language) => [
    { name: `campaign-${language}`, path: () => campaigns(`/${campaignId}`), language },
    { name: `campaign-steps-${language}`, path: () => campaigns(`/${campaignId}?tab=steps`), language },
  ]),
  { name: 'new-campaign', path: () => campaigns('/new') },
  { name: 'edit-campaign', path: () => campaigns(`/${campaignId}/edit`) },
  { name: 'edit-campaign-de', path: () => campaigns(`/${campaignId}/edit`), language: 'de' },
  { name: 'edit-campaign-json', path: () => campaigns(`/${campaignId}/edit?view=json`) },
  { name: 'edit-campaign-he', path: () => campaigns(`/${campaignId}/edit`), language: 'he' },
  ...(['en', 'de', 'he'] as const).map((language) => ({
    name: `campaign-simulation-${language}`,
    path: () => campaigns(`/${campaignId}?tab=simulate`),
    language,
    open: async (page: Page) => {
      await page.locator('main select').first().selectOption('made-up')
      await page.locator('form button[type=submit]').click()
      await page.locator('main section').nth(2).waitFor()
    },
  })),
  ...(['en', 'de', 'he'] as const).map((language) => ({
    name: `campaign-backtest-${language}`,
    path: () => campaigns(`/${campaignId}?tab=backtest`),
    language,
    open: async (page: Page) => {
      await page.locator('form button[type=submit]').click()
      await page.locator('main section').nth(3).waitFor()
    },
  })),
  ...(['en', 'de', 'he'] as const).flatMap((language) => [
    { name: `templates-${language}`, path: () => templates(), language },
    { name: `template-${language}`, path: () => templates(`/${templateId}`), language },
    { name: `channels-${language}`, path: settings('channels'), language },
    { name: `messaging-${language}`, path: settings('messages'), language },
    { name: `suppressions-${language}`, path: settings('suppressions'), language },
    {
      name: `channel-${language}`,
      path: settings('channels'),
      language,
      open: async (page: Page) => {
        await page.getByRole('row').nth(1).click()
        await page.getByRole('dialog').getByRole('combobox').first().selectOption('smtp')
      },
    },
  ]),
  { name: 'new-template', path: () => templates('/new') },
  {
    name: 'channel-log',
    path: settings('channels?log=email'),
    open: async (page) => {
      await page.getByRole('row').nth(1).click()
      await page.getByRole('dialog').waitFor()
    },
  },
  {
    name: 'new-suppressions',
    path: settings('suppressions'),
    open: async (page) => page.getByRole('button', { name: 'Add addresses' }).click(),
  },
  { name: 'campaign-enrolments', path: () => campaigns(`/${campaignId}?tab=enrolments`) },
  {
    name: 'campaign-message',
    path: () => campaigns(`/${campaignId}?tab=messages`),
    open: async (page) => {
      await page
        .getByRole('row')
        .filter({ hasText: 'Zoe Zimmer' })
        .click({ position: { x: 200, y: 20 } })
      await page.getByRole('dialog').frameLocator('iframe').getByText('Hello Zoe').waitFor()
    },
  },
  ...(['en', 'de', 'he'] as const).map((language) => ({
    name: `sql-${language}`,
    path: () => `/dashboard/b/${dashboard.businessId}/sql`,
    language,
    open: async (page: Page) => {
      await page.locator('main button').filter({ hasText: RUN }).click()
      await page.getByRole('grid').or(page.getByText(NO_ROWS)).first().waitFor()
    },
  })),
  ...(['en', 'de', 'he'] as const).flatMap((language) => [
    { name: `analytics-${language}`, path: () => analytics(), language },
    { name: `analytics-rows-${language}`, path: () => analytics('?by=property&name=plan&compare=true'), language },
  ]),
  { name: 'analytics-none', path: () => analytics('?events=["nothing"]&from=2024-01-01&to=2024-01-31') },
  { name: 'funnel-none', path: () => analytics('/funnel') },
  ...(['en', 'de', 'he'] as const).map((language) => ({
    name: `funnel-${language}`,
    path: () => analytics('/funnel?steps=["purchase","signup","paid"]&dropped=1'),
    language,
  })),
  ...(['en', 'de', 'he'] as const).map((language) => ({
    name: `retention-${language}`,
    path: () => analytics('/retention?first=purchase&days=7'),
    language,
  })),
  ...(['en', 'de', 'he'] as const).map((language) => ({
    name: `revenue-${language}`,
    path: () => analytics('/revenue?compare=true&days=7'),
    language,
  })),
  ...(['en', 'de', 'he'] as const).flatMap((language) => [
    {
      name: `analytics-two-${language}`,
      path: () => analytics(`?where=${WHERE}&second={"measure":"revenue","currency":"EUR"}&formula=a / b&days=7`),
      language,
    },
    {
      name: `funnel-where-${language}`,
      path: () => analytics(`/funnel?steps=["purchase",{"event":"paid","where":${WHERE}}]&days=7`),
      language,
    },
    { name: `attribution-${language}`, path: () => analytics('/attribution?beside=first&days=7'), language },
    {
      name: `attribution-none-${language}`,
      path: () => analytics('/attribution?by=touch&from=2020-01-01&to=2020-01-31'),
      language,
    },
    {
      name: `spend-${language}`,
      path: () => analytics('/attribution'),
      language,
      open: async (page: Page) => {
        await page.locator('main section button').filter({ hasText: SPEND }).last().click()
        await page.locator('dialog input[type=file]').setInputFiles(SPEND_FILE)
        await page.locator('dialog button[type=submit]').click()
        await page.locator('dialog table').waitFor()
      },
    },
    { name: `lifecycle-${language}`, path: () => analytics('/lifecycle?days=7'), language },
    { name: `stages-${language}`, path: () => analytics('/stages?days=7'), language },
    { name: `web-${language}`, path: () => analytics('/web?days=7&compare=true'), language, isPolling: true },
    { name: `engagement-${language}`, path: () => analytics('/engagement'), language },
    { name: `audience-${language}`, path: () => analytics('/audience'), language },
  ]),
  { name: 'web-none', path: () => analytics('/web?from=2020-01-01&to=2020-01-31'), isPolling: true },
  {
    name: 'analytics-picker',
    path: () => analytics('?events=["purchase"]'),
    open: async (page) => page.getByRole('button', { name: 'Add an event' }).click(),
  },
  { name: 'boards', path: () => boards() },
  { name: 'boards-read-only', path: () => boards(), email: 'read-only@x.io' },
  ...(['en', 'de', 'he'] as const).flatMap((language) => [
    { name: `board-${language}`, path: () => boards(`/${boardId}`), language },
    { name: `board-mail-${language}`, path: () => boards(`/${boardId}?mail=true`), language },
  ]),
  { name: 'board-read-only', path: () => boards(`/${boardId}`), email: 'read-only@x.io' },
  {
    name: 'save-to-board',
    path: () => analytics(),
    open: async (page) => {
      await page.getByRole('button', { name: 'Save to board' }).click()
      await page.getByRole('dialog').getByLabel('Title').waitFor()
    },
  },
  {
    name: 'sql-refused',
    path: () => `/dashboard/b/${dashboard.businessId}/sql`,
    open: async (page) => {
      await page.getByRole('textbox', { name: 'SQL statement' }).focus()
      await page.keyboard.press('Control+a')
      await page.keyboard.insertText('select {n: UInt8}, nothing from contacts')
      await page.getByRole('button', { name: 'Run' }).click()
      await page.getByRole('alert').waitFor()
    },
  },
  { name: 'custom-fields', path: () => `/dashboard/b/${dashboard.businessId}/custom-fields` },
  { name: 'custom-field', path: () => `/dashboard/b/${dashboard.businessId}/custom-fields?field=plan` },
  { name: 'deliveries', path: () => `/dashboard/b/${dashboard.businessId}/deliveries`, isPolling: true },
  ...(['en', 'de', 'he'] as const).map((language) => ({
    name: `new-destination-${language}`,
    path: () => `/dashboard/b/${dashboard.businessId}/deliveries`,
    language,
    isPolling: true,
    open: async (page: Page) => {
      await page.locator('main section button').first().click()
      await page.getByRole('dialog').getByRole('combobox').first().selectOption('google')
    },
  })),
  { name: 'keys', path: settings('keys') },
  {
    name: 'new-key',
    path: settings('keys'),
    open: async (page) => {
      await page.getByRole('button', { name: 'Create key' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
      await page.getByText('Copy it now').waitFor()
    },
  },
  { name: 'business', path: settings('business') },
  { name: 'business-he', path: settings('business'), language: 'he' },
  { name: 'people', path: settings('people') },
  { name: 'people-de', path: settings('people'), language: 'de' },
  { name: 'audit', path: settings('audit') },
  { name: 'sign-in', path: () => '/dashboard/sign-in', email: null },
  {
    name: 'imports',
    path: () => `/dashboard/b/${dashboard.businessId}/imports`,
    open: async (page) => {
      const buffer = Buffer.from('mail,when,plan,amount\nann@x.io,2026-01-31,pro,9.5\n')
      await page.getByLabel(/^CSV or NDJSON/).setInputFiles({ name: 'orders.csv', mimeType: 'text/csv', buffer })
      await page.getByRole('button', { name: 'Next' }).click()
      await page.getByText('What the columns hold').waitFor()
    },
  },
  { name: 'operations', path: () => '/dashboard/operations', email: 'operator@x.io', isPolling: true },
  { name: 'reference', path: () => '/dashboard/reference', email: null },
  { name: 'reference-track', path: () => '/dashboard/reference?operation=postApiSdkTrack' },
  { name: 'forgot', path: () => '/dashboard/forgot', email: null },
  { name: 'link', path: () => '/dashboard/link', email: null },
  { name: 'account', path: () => '/dashboard/account' },
  { name: 'account-he', path: () => '/dashboard/account', language: 'he' },
  { name: 'account-de', path: () => '/dashboard/account', language: 'de' },
  {
    name: 'second-step',
    path: () => '/dashboard/account',
    open: async (page) => {
      await page.getByRole('button', { name: 'Set up' }).click()
      await page.getByRole('dialog').getByRole('img').waitFor()
    },
  },
  {
    name: 'palette',
    path: () => '/dashboard/account',
    open: openPalette,
  },
  {
    name: 'shortcuts',
    path: () => '/dashboard/account',
    open: async (page) => {
      await page.keyboard.press('?')
      await page.getByRole('dialog').waitFor()
    },
  },
]

const WIDTHS = [360, 1280, 2560]

/** One check of a page. By default, only by the rules of axe whose findings depend on theme and width. */
interface Look {
  theme: 'light' | 'dark'
  width: number
  rules?: Parameters<typeof findBarriers>[1]
}
const APPEARANCE = { only: [...COLORS, ...SIZES] }
/** Both themes and all widths; the narrow window in both themes if it has parts of its own. */
const LOOKS: Look[] = [
  { theme: 'light', width: 360, rules: {} },
  { theme: 'dark', width: 360 },
  { theme: 'dark', width: 1280, rules: {} },
  { theme: 'light', width: 2560 },
]
/** The checks that another language may change. Colors do not depend on it. */
const LOOKS_AT_WORDS: Look[] = [
  { theme: 'light', width: 360, rules: { without: COLORS } },
  { theme: 'dark', width: 1280, rules: { only: SIZES } },
]
/** For screenshots. */
const PICTURES: Look[] = WIDTHS.flatMap((width) => (['light', 'dark'] as const).map((theme) => ({ theme, width })))
const FOLDER = process.env['SCREENSHOTS']

// Each page is opened once: its window changes size and theme while it is open.
it.each(SHOWN)('$name, light and dark, narrow and wide', async ({ name, path, open, isPolling, ...visit }) => {
  const page = await dashboard.visit(path(), { ...visit, width: WIDTHS[0] })
  await settle(page, isPolling)
  expect(await layoutShift(page), name).toBeLessThan(MAX_SHIFT)
  await open?.(page)
  const looks = visit.language === undefined || visit.language === 'en' ? LOOKS : LOOKS_AT_WORDS
  for (const { theme, width, rules = APPEARANCE } of FOLDER === undefined ? looks : PICTURES) {
    await page.setViewportSize({ width, height: 800 })
    await page.emulateMedia({ colorScheme: theme })
    await endAnimations(page)
    const shown = `${name}-${theme}-${width}`
    // An opened part covers the window; a page may be longer than the window.
    if (FOLDER !== undefined) {
      await page.screenshot({ path: join(FOLDER, `${shown}.png`), fullPage: open === undefined })
    }
    expect(await findBarriers(page, rules), shown).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), shown).toBeLessThanOrEqual(0)
    expect(dashboard.complaints.splice(0), shown).toEqual([])
  }
})

/** Too little for a reader to see: half of what counts as good (web.dev/cls). */
const MAX_SHIFT = 0.05

/** Returns how far painted parts have moved since without the reader having caused it. */
const layoutShift = (page: Page): Promise<number> =>
  page.evaluate<number>(`new Promise((resolve) => {
    let sum = 0
    const add = (list) => { for (const one of list.getEntries()) if (!one.hadRecentInput) sum += one.value }
    new PerformanceObserver(add).observe({ type: 'layout-shift', buffered: true })
    setTimeout(() => resolve(sum), 100)
  })`)

it('all pages are among them', () => {
  const paths = SHOWN.map(({ path }) => path().split('?')[0] ?? '')
  const missing = PAGE_PATHS.filter((pattern) => {
    const parts = pattern.split('/')
    return !paths.some((path) => {
      const given = path.split('/')
      return given.length === parts.length && parts.every((part, at) => part.startsWith('$') || part === given[at])
    })
  })
  // This one leads to another page.
  expect(missing).toEqual(['/dashboard'])
})
