/** The pages of the dashboard, except those of charts, boards and SQL. */
import type { Page } from 'playwright-core'
import type { Shown } from './check-page.ts'
import { campaignId, contactId, dashboard, segmentId, templateId } from './filled-business.ts'
import { openPalette } from './open-dashboard.ts'

const settings = (page: string) => () => `/dashboard/b/${dashboard.businessId}/settings/${page}`
const segments = (path = '') => `/dashboard/b/${dashboard.businessId}/segments${path}`
const campaigns = (path = '') => `/dashboard/b/${dashboard.businessId}/campaigns${path}`
const templates = (path = '') => `/dashboard/b/${dashboard.businessId}/templates${path}`

export const SHOWN: Shown[] = [
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
    { name: `senders-${language}`, path: settings('senders'), language },
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
