/** The pages of charts, boards and SQL. */
import type { Page } from 'playwright-core'
import type { Shown } from './check-page.ts'
import { boardId, dashboard } from './filled-business.ts'

const analytics = (path = '') => `/dashboard/b/${dashboard.businessId}/analytics${path}`
const boards = (path = '') => `/dashboard/b/${dashboard.businessId}/boards${path}`

const WHERE = '[{"property":"plan","operator":"equals","value":"pro"}]'
const SPEND = /^(Import spend|Ausgaben importieren|ייבוא הוצאות)$/
const SPEND_FILE = {
  name: 'spend.csv',
  mimeType: 'text/csv',
  buffer: Buffer.from('date,channel,source,campaign,cost\n2026-02-28,paid_search,google,spring,120.50\nx,email,,,1\n'),
}

const RUN = /^(Run|Ausführen|הרצה)$/
const NO_ROWS = /^(No rows|Keine Zeilen|אין שורות)$/

export const SHOWN_CHARTS: Shown[] = [
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
]
