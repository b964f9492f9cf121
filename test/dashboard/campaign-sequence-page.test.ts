// @pages
/** Sends the whole sequence of a campaign to a person who tests it, in a real Chromium. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { speakTo } from '../front-door/http-client.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { type Dashboard, findBarriers, openDashboard, settle } from './open-dashboard.ts'
import { addUser } from './session-client.ts'

let dashboard: Dashboard
let business: TestBusiness
beforeAll(async () => {
  dashboard = await openDashboard()
})
afterAll(() => dashboard.close())
beforeEach(async () => {
  business = await createBusiness(dashboard.service.sql, { name: 'Bookshop' })
  for (const role of ['owner', 'marketer', 'analyst'] as const) {
    await addUser(dashboard.service.sql, emailOf(role), { businessId: business.businessId, role })
  }
})
afterEach(() => {
  if (dashboard.complaints.length > 0) throw new Error(dashboard.complaints.splice(0).join('\n'))
})

const emailOf = (role: string) => `${role}-${business.businessId}@x.io`

async function send<Data>(method: string, path: string, json?: object): Promise<Data> {
  const { status, body } = await speakTo(dashboard.service.url)(method, `/api/${path}`, {
    key: business.secretKey,
    json,
  })
  expect([path, status, body]).toMatchObject([path, 200, {}])
  return body.data as Data
}

async function template(name: string, channel: string, variant: object): Promise<string> {
  const wanted = { name, channel, variants: { en: variant }, defaultLanguage: 'en' }
  return (await send<{ template: { templateId: string } }>('POST', 'templates', wanted)).template.templateId
}

/** A mail and an SMS, with a wait between them. */
async function draft(): Promise<string> {
  const mail = await template('Hello', 'email', { subject: 'Hi', text: 'Hi {{contact.firstName}}' })
  const sms = await template('Reminder', 'sms', { text: 'Come back' })
  const steps = [
    { type: 'send', channel: 'email', template: mail },
    { type: 'wait', for: 'P3D' },
    { type: 'send', channel: 'sms', template: sms },
  ]
  const wanted = { name: 'Welcome', trigger: { event: 'signup' }, steps }
  return (await send<{ campaign: { campaignId: string } }>('POST', 'campaigns', wanted)).campaign.campaignId
}

async function open(id: string, role = 'marketer'): Promise<Page> {
  const path = `/dashboard/b/${business.businessId}/campaigns/${id}`
  const page = await dashboard.visit(path, { email: emailOf(role) })
  await settle(page)
  return page
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const words = async (page: Page) =>
  (await page.getByRole('list', { name: 'What happened to them' }).innerText()).replaceAll(/\s+/g, ' ')

it('goes out at once as a contact would get it; a channel without an address is skipped', async () => {
  const identity = { email: 'zoe@x.io' }
  await send('POST', 'sdk/identify', { identity, profile: { name: 'Zoe Zimmer' } })
  const page = await open(await draft())
  await button(page, 'Send me the sequence').click()
  const dialog = page.getByRole('dialog', { name: 'Send me the whole sequence' })
  expect(await dialog.getByLabel('Phone number for WhatsApp').count()).toBe(0)
  await dialog.getByLabel('Email address').fill('nonsense')
  await button(page, 'Send them').click()
  await dialog.getByLabel('Email address').and(page.locator('[aria-invalid]')).waitFor()
  await dialog.getByLabel('Email address').fill('me@x.io')
  await dialog.getByRole('button', { name: 'As nobody in particular' }).click()
  await page.keyboard.type('Zoe')
  await page.getByRole('option', { name: 'Zoe Zimmer' }).click()
  await button(page, 'Send them').click()
  await dialog.getByText('Kept in the log').waitFor()
  expect(await words(page)).toMatch(/Accepted Send email Hello Kept in the log.* Skipped Send SMS Reminder no address/)
  expect(await findBarriers(page)).toEqual([])
  const { messages } = await send<{ messages: object[] }>('GET', 'channels/email/log')
  expect(messages).toMatchObject([{ to: 'me@x.io', message: { text: expect.stringContaining('Hi Zoe') as unknown } }])
})

it('comes with the words of the provider when it is not taken', async () => {
  await send('PUT', 'channels/email', { provider: 'smtp', host: 'localhost', port: 9, sender: 'a@x.io' })
  const page = await open(await draft())
  await button(page, 'Send me the sequence').click()
  await page.getByLabel('Email address').fill('me@x.io')
  await page.getByLabel('Phone number for SMS').fill('+972541234567')
  await button(page, 'Send them').click()
  await page.getByText('The provider says:').waitFor()
  expect(await words(page)).toMatch(
    /Not accepted this time Send email Hello The provider says: \S.* Accepted Send SMS Reminder/,
  )
})

it('is not for those who only read, nor of a campaign that sends nothing', async () => {
  const id = await draft()
  const reader = await open(id, 'analyst')
  await reader.getByText('A draft enrols nobody').waitFor()
  expect(await button(reader, 'Send me the sequence').count()).toBe(0)
  const wanted = { name: 'Nothing', trigger: { event: 'signup' } }
  const empty = await send<{ campaign: { campaignId: string } }>('POST', 'campaigns', wanted)
  const page = await open(empty.campaign.campaignId)
  await button(page, 'Publish').waitFor()
  expect(await button(page, 'Send me the sequence').count()).toBe(0)
})
