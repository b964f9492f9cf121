// @pages
/** Channels and suppressions in a real Chromium. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { texts as german } from '../../src/dashboard/src/texts/de/suppressions.ts'
import { texts as hebrew } from '../../src/dashboard/src/texts/he/suppressions.ts'
import { speakTo } from '../front-door/http-client.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { type Dashboard, findBarriers, openDashboard, settle } from './open-dashboard.ts'
import { PASSWORD, addUser } from './session-client.ts'
import { PATIENCE_MS } from '../support/at-load.ts'
import { enter, tabTo, typeInto } from './tab-to.ts'

let dashboard: Dashboard
let business: TestBusiness
beforeAll(async () => {
  dashboard = await openDashboard()
})
afterAll(() => dashboard.close())
beforeEach(async () => {
  business = await createBusiness(dashboard.service.sql, { name: 'Bookshop' })
  for (const role of ['owner', 'marketer', 'analyst', 'read-only'] as const) {
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

async function open(path: string, role = 'owner'): Promise<Page> {
  const url = `/dashboard/b/${business.businessId}/settings/${path}`
  const page = await dashboard.visit(url, { email: emailOf(role) })
  await settle(page)
  return page
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text })
const said = (page: Page, text: string) => page.getByRole('status').getByText(text).waitFor()

describe('channels', () => {
  const channel = async (name: string) =>
    (await send<{ channel: Record<string, unknown> }>('GET', `channels/${name}`)).channel
  const storedSecret = async () =>
    (await dashboard.service.sql`select secret from channels where business_id = ${business.businessId}`)[0]

  it('are set up by keyboard; what the server refuses is at its field, and secrets stay when they are left out', async () => {
    const page = await open('channels')
    await row(page, 'Email').focus()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Email' })
    await dialog.getByLabel('Provider').selectOption('SMTP')
    await dialog.getByLabel('Host').fill('localhost')
    await dialog.getByLabel('Port').fill('abc')
    await page.keyboard.press('Enter')
    await dialog.getByLabel('Port').and(page.locator('[aria-invalid]')).waitFor()
    await dialog.getByLabel('Port').fill('2525')
    await dialog.getByLabel('Sender').fill('Shop <hello@shop.example>')
    await dialog.getByLabel('User').fill('shop')
    await dialog.getByLabel('Password').fill('a secret')
    expect(await dialog.getByLabel('Password').getAttribute('type')).toBe('password')
    await dialog.getByLabel('Encrypted from the start').selectOption('No')
    expect(await findBarriers(page)).toEqual([])
    await dashboard.service.sql`update sessions set confirmed_at = now() - interval '1 hour'`
    await button(page, 'Save').click()
    await page.getByRole('dialog', { name: 'Confirm that it is you' }).getByLabel('Password').fill(PASSWORD)
    await page.keyboard.press('Enter')
    await said(page, 'Saved.')
    const settings = {
      provider: 'smtp',
      host: 'localhost',
      port: 2525,
      secure: false,
      user: 'shop',
      sender: 'Shop <hello@shop.example>',
    }
    expect(await channel('email')).toMatchObject({ ...settings, secrets: ['password'] })
    const before = await storedSecret()

    await row(page, 'Shop <hello@shop.example>').click()
    await dialog.getByText('Stored. Leave empty to keep it.').waitFor()
    expect(await dialog.getByLabel('Password').inputValue()).toBe('')
    await dialog.getByLabel('Reply to').fill('help@shop.example')
    await button(page, 'Save').click()
    await dialog.waitFor({ state: 'detached' })
    expect(await channel('email')).toMatchObject({ ...settings, replyTo: 'help@shop.example', secrets: ['password'] })
    expect(await storedSecret()).toEqual(before)

    await row(page, 'Shop <hello@shop.example>').click()
    await dialog.getByLabel('Provider').selectOption('Log: nothing is sent')
    await button(page, 'Save').click()
    await dialog.waitFor({ state: 'detached' })
    expect(await channel('email')).toMatchObject({ provider: 'log' })
  })

  it('send to browsers once their contact for push services is entered, by a key that the dialog shows', async () => {
    const page = await open('channels')
    await row(page, 'Push').click()
    const dialog = page.getByRole('dialog', { name: 'Push' })
    await dialog.getByLabel('Provider').selectOption('Web Push')
    await button(page, 'Save').click()
    await dialog.getByLabel('Contact for push services').and(page.locator('[aria-invalid]')).waitFor()
    await dialog.getByLabel('Contact for push services').fill('mailto:push@shop.example')
    await button(page, 'Save').click()
    await dialog.waitFor({ state: 'detached' })
    const { publicKey, ...stored } = await channel('push')
    expect(stored).toMatchObject({ provider: 'webpush', ttl: 259_200, urgency: 'normal', secrets: ['privateKey'] })
    await row(page, 'mailto:push@shop.example').click()
    await dialog.getByText(String(publicKey)).waitFor()
    expect(await findBarriers(page)).toEqual([])
    await button(page, 'Send me a test').click()
    await page.getByLabel('ID of a contact').fill(crypto.randomUUID())
    await button(page, 'Send it').click()
    await page.getByText('the contact has no browser that takes push messages').waitFor()
  })

  it('say of a test that the server refused the user or the password, with its own words', async () => {
    const server = new SMTPServer({
      disabledCommands: ['STARTTLS'],
      onAuth: (_, __, callback) =>
        callback(Object.assign(new Error('5.7.8 No such user or password'), { responseCode: 535 })),
    })
    server.listen(0, '127.0.0.1')
    await once(server.server, 'listening')
    try {
      const { port } = server.server.address() as AddressInfo
      const login = { user: 'shop', password: 'not the password' }
      await send('PUT', 'channels/email', { provider: 'smtp', host: '127.0.0.1', port, sender: 'a@x.io', ...login })
      const page = await open('channels')
      await row(page, 'Email').click()
      await button(page, 'Send me a test').click()
      await button(page, 'Send it').click()
      const dialog = page.getByRole('dialog')
      await dialog.getByText('The server refused the user or the password.').waitFor()
      await dialog.getByText('535 5.7.8 No such user or password').waitFor()
      expect(await dialog.getByText('Try again later').count()).toBe(0)
    } finally {
      server.close()
    }
  })

  it('are tested, with the words of the provider when it fails', async () => {
    await send('PUT', 'channels/email', { provider: 'smtp', host: 'localhost', port: 9, sender: 'a@x.io' })
    const page = await open('channels', 'marketer')
    await row(page, 'Email').click()
    await page.getByText('Only owners can change channels.').waitFor()
    await button(page, 'Send me a test').click()
    await page.getByLabel('Email address').fill('me@x.io')
    await button(page, 'Send it').click()
    await page.getByRole('dialog').getByText('The provider says:').waitFor()
  })

  it('look up the records of the sender, and say where each belongs', async () => {
    await send('PUT', 'channels/email', { provider: 'smtp', host: 'localhost', port: 9, sender: 'a@nowhere.invalid' })
    const page = await open('channels', 'marketer')
    await row(page, 'Email').click()
    const check = page.getByRole('region', { name: 'SPF, DKIM and DMARC' })
    await check.getByLabel('DKIM selectors').fill('s1, not a selector!')
    await button(page, 'Check the domain of the sender').click()
    await check.getByRole('alert').waitFor()
    await check.getByLabel('DKIM selectors').fill('s1, s2')
    await button(page, 'Check the domain of the sender').click()
    await check.getByText('_dmarc.nowhere.invalid', { exact: true }).waitFor()
    const words = await check.getByRole('status').innerText()
    for (const record of ['SPF', 'DKIM', 'DMARC']) expect(words).toContain(record)
    expect(words).toMatch(/Missing|Could not be checked/)
    expect(await findBarriers(page)).toEqual([])
    await page.keyboard.press('Escape')
    await row(page, 'SMS').click()
    await page.getByRole('dialog').waitFor()
    expect(await button(page, 'Check the domain of the sender').count()).toBe(0)
  })

  it('keep what they would have sent in a log', async () => {
    await send('POST', 'channels/sms/test', { to: '+972541234567' })
    const page = await open('channels', 'analyst')
    await row(page, 'SMS').click()
    expect(await button(page, 'Send me a test').count()).toBe(0)
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Log', exact: true }).click()
    await page.getByText('The log of this channel is empty').waitFor()
    await page.getByLabel('Channel').selectOption('SMS')
    await row(page, '+972541234567').click()
    await page.getByRole('dialog').locator('pre').waitFor()
  })

  it('are not for those who only read', async () => {
    const page = await open('channels', 'read-only')
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
    expect(await page.getByRole('link', { name: 'Channels' }).count()).toBe(0)
  })
})

describe('suppressions', () => {
  const list = async () => (await send<{ suppressions: object[] }>('GET', 'suppressions')).suppressions

  it.each([
    ['de', german, 'nonsense: Muss eine E-Mail-Adresse sein, etwa ada@example.com'],
    ['he', hebrew, 'nonsense: נדרשת כתובת דוא״ל אחת, כגון ada@example.com'],
  ] as const)('are refused in the language of the page: %s', async (language, texts, reason) => {
    const url = `/dashboard/b/${business.businessId}/settings/suppressions`
    const page = await dashboard.visit(url, { email: emailOf('owner'), language })
    await button(page, texts.add).click()
    const dialog = page.getByRole('dialog')
    await dialog.locator('[name=addresses]').fill('nonsense')
    await dialog.locator('button[type=submit]').click()
    const said = await dialog.getByRole('alert').locator('li').innerText()
    expect(said.replaceAll(/[\u2066-\u2069]/g, '')).toBe(reason)
  })

  it('are added, with what is wrong left to be mended, found by their address, and lifted', async () => {
    const page = await open('suppressions')
    await page.getByText('No suppressions').waitFor()
    await button(page, 'Add addresses').click()
    const dialog = page.getByRole('dialog')
    expect(await button(page, 'Suppress').isDisabled()).toBe(true)
    await dialog.getByLabel('Addresses').fill('ada@x.io\nnonsense\n\n Bob@x.io ')
    await dialog.getByLabel('Reason').selectOption('Complaint')
    await button(page, 'Suppress').click()
    await dialog.getByRole('alert').getByText('nonsense').waitFor()
    expect(await dialog.getByLabel('Addresses').inputValue()).toBe('nonsense')
    expect(await findBarriers(page)).toEqual([])
    await dialog.getByLabel('Addresses').fill('cy@x.io')
    await button(page, 'Suppress').click()
    await dialog.waitFor({ state: 'detached' })
    expect(await list()).toHaveLength(3)

    await page.getByLabel('Find an address').fill('bob@x.io')
    await page.keyboard.press('Enter')
    await row(page, 'Complaint').nth(1).waitFor({ state: 'detached' })
    await button(page, 'Lift').click()
    await dialog.getByText('The address gets messages again').waitFor()
    await dialog.getByRole('button', { name: 'Lift', exact: true }).click()
    await page.getByText('This address is not suppressed.').waitFor()
    expect(await list()).toHaveLength(2)
    expect(page.url()).not.toContain('bob')
    await page.getByLabel('Find an address').fill('nonsense')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('Enter an email address or a phone number.').waitFor()
  })

  it('are lifted by reason and time, after a question', async () => {
    const of = (address: string, reason: string) => ({ channel: 'email', address, reason })
    const suppressions = [of('a@x.io', 'manual'), of('b@x.io', 'manual'), of('c@x.io', 'hard_bounce')]
    await send('POST', 'suppressions', { suppressions })
    const page = await open('suppressions')
    const lift = async (from: string) => {
      await button(page, 'Lift several').click()
      await page.getByRole('dialog').getByLabel('Reason').selectOption('Added by hand')
      await page.getByRole('dialog').getByLabel('From').fill(from)
      await button(page, 'Next').click()
      await page.getByText('All suppressions with the reason “Added by hand”').waitFor()
      await button(page, 'Lift them').click()
    }
    await lift('2099-01-01T00:00')
    await said(page, '0 suppressions lifted.')
    expect(await list()).toHaveLength(3)
    await lift('2020-01-01T00:00')
    await said(page, '2 suppressions lifted.')
    expect(await list()).toMatchObject([{ reason: 'hard_bounce' }])
    await page.getByLabel('Reason').selectOption('Complaint')
    await page.getByText('None found').waitFor()
  })

  it('are added, lifted one by one and lifted by reason, by keyboard alone', async () => {
    const page = await open('suppressions')
    const dialog = page.getByRole('dialog')
    const isDone = () => dialog.waitFor({ state: 'detached' })
    await enter(page, button(page, 'Add addresses'))
    await tabTo(page, dialog.getByLabel('Addresses'))
    await page.keyboard.type('ada@x.io')
    await page.keyboard.press('Enter')
    await page.keyboard.type('bob@x.io')
    await typeInto(page, dialog.getByLabel('Reason'), 'Complaint')
    await enter(page, button(page, 'Suppress'))
    await isDone()
    expect(await list()).toMatchObject([{ reason: 'complaint' }, { reason: 'complaint' }])
    await typeInto(page, page.getByLabel('Find an address'), 'bob@x.io')
    await page.keyboard.press('Enter')
    await row(page, 'Complaint').nth(1).waitFor({ state: 'detached' })
    await enter(page, button(page, 'Lift'))
    await enter(page, dialog.getByRole('button', { name: 'Lift', exact: true }))
    await isDone()
    expect(await list()).toHaveLength(1)
    await enter(page, button(page, 'Lift several'))
    await typeInto(page, dialog.getByLabel('Reason'), 'Complaint')
    await enter(page, button(page, 'Next'))
    await enter(page, button(page, 'Lift them'))
    await said(page, '1 suppression lifted.')
    // The earlier message may still be shown.
    await expect.poll(list, { timeout: PATIENCE_MS }).toEqual([])
  })

  it('are shown to an analyst without changes, and not to those who only read', async () => {
    await send('POST', 'suppressions', { suppressions: [{ channel: 'sms', address: '+972541234567' }] })
    const page = await open('suppressions', 'analyst')
    await row(page, 'Added by hand').waitFor()
    for (const name of ['Lift', 'Lift several', 'Add addresses']) expect(await button(page, name).count()).toBe(0)
    const reader = await open('suppressions', 'read-only')
    await reader.getByRole('heading', { name: 'Page not found' }).waitFor()
  })
})
