// @pages
/** The template pages in a real Chromium. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
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

interface Stored {
  templateId: string
  name: string
  channel: string
  version: number
  defaultLanguage: string
  variants: Record<string, object>
}

async function make(json: object = {}): Promise<Stored> {
  const variants = { en: { subject: 'Hello', html: '<p>Hello {{contact.firstName}}</p>' } }
  const wanted = { name: 'Welcome', channel: 'email', variants, defaultLanguage: 'en', ...json }
  return (await send<{ template: Stored }>('POST', 'templates', wanted)).template
}
const read = async (id: string) => (await send<{ template: Stored }>('GET', `templates/${id}`)).template

async function open(path = '', role = 'marketer'): Promise<Page> {
  const page = await dashboard.visit(`/dashboard/b/${business.businessId}/templates${path}`, { email: emailOf(role) })
  await settle(page)
  return page
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const said = (page: Page, text: string) => page.getByRole('status').getByText(text).waitFor()
const preview = (page: Page) => page.getByRole('region', { name: 'Preview' })

describe('the list', () => {
  it('finds templates by name and channel, and says which campaigns use them', async () => {
    const { templateId } = await make({ name: 'Hello <b>you</b>' })
    await make({ name: 'Reminder', channel: 'sms', variants: { en: { text: 'Hi' }, de: { text: 'Hallo' } } })
    const steps = [{ type: 'branch', rule: { tag: 'vip', operator: 'has' }, steps: [sendStep(templateId)] }]
    await send('POST', 'campaigns', { name: 'Onboarding', trigger: { event: 'signup' }, steps })
    const page = await open()
    const rows = page.getByRole('row')
    await rows.nth(2).getByRole('link', { name: 'Onboarding' }).waitFor()
    expect(await rows.nth(1).innerText()).toMatch(/Reminder\s+SMS\s+de, en\s+No campaign/)
    await page.getByLabel('Search by name').fill('HELLO')
    await rows.filter({ hasText: 'Reminder' }).waitFor({ state: 'detached' })
    await page.reload()
    await rows.nth(1).getByText('Hello <b>you</b>').waitFor()
    await page.getByLabel('Channel').selectOption('SMS')
    await page.getByText('No templates match').waitFor()
  })

  it('shows those who only read no texts', async () => {
    const { templateId } = await make()
    const page = await open('', 'read-only')
    await page.getByRole('row').filter({ hasText: 'Welcome' }).waitFor()
    expect(await page.locator('main').getByRole('link').count()).toBe(0)
    const single = await open(`/${templateId}`, 'read-only')
    await single.getByRole('heading', { name: 'Page not found' }).waitFor()
  })
})

const sendStep = (template: string) => ({ type: 'send', channel: 'email', template })

describe('the editor', () => {
  it('makes one by keyboard: languages, what can be read put at the cursor, errors at their field', async () => {
    const page = await open()
    await page.getByText('No templates yet').waitFor()
    await page.keyboard.press('n')
    await page.getByRole('heading', { name: 'New template' }).waitFor()
    await page.getByLabel('Name').fill('Invoice')
    await page.getByLabel('Subject').fill('Hi ')
    await button(page, 'contact.firstName').press('Enter')
    await page.locator('[name=subject]:focus').waitFor()
    await page.keyboard.type('!')
    expect(await page.getByLabel('Subject').inputValue()).toBe('Hi {{contact.firstName}}!')
    await page.getByRole('textbox', { name: 'HTML' }).fill('<p>{{contact.age}}</p>')
    await button(page, 'Add a language').click()
    await page.keyboard.type('german')
    await page.keyboard.press('Enter')
    const german = page.getByRole('tab', { name: 'German' })
    await german.and(page.locator('[aria-selected=true]')).waitFor()
    await page.getByLabel('Subject').fill('Hallo')
    await page.getByRole('textbox', { name: 'HTML' }).fill('<p>Hallo</p>')
    await german.focus()
    await page.keyboard.press('ArrowLeft')
    await page.getByRole('tab', { name: 'English' }).and(page.locator('[aria-selected=true]')).waitFor()
    await german.click()
    await button(page, 'Save').click()
    // It opens the language with the fault.
    await page
      .getByText(/contact\.age/)
      .first()
      .waitFor()
    await page.locator('[name=html]:focus').waitFor()
    expect(await page.getByRole('tab', { name: 'English' }).getAttribute('aria-selected')).toBe('true')
    expect(await findBarriers(page)).toEqual([])
    await page.getByRole('textbox', { name: 'HTML' }).fill('<p>Hi</p>')
    await button(page, 'Save').click()
    await said(page, 'Template saved.')
    await page.getByRole('heading', { level: 1, name: 'Invoice' }).waitFor()
    await preview(page).frameLocator('iframe').getByText('Hi').waitFor()
    expect(await read(page.url().split('/').at(-1) ?? '')).toMatchObject({
      name: 'Invoice',
      channel: 'email',
      defaultLanguage: 'en',
      variants: {
        en: { subject: 'Hi {{contact.firstName}}!', html: '<p>Hi</p>' },
        de: { subject: 'Hallo', html: '<p>Hallo</p>' },
      },
    })
  })

  it.each([
    ['sms', { en: { text: 'Hi' } }],
    [
      'whatsapp',
      { en: { providerTemplate: 'hello', providerLanguage: 'en_US', parameters: ['{{contact.city}}', ''] } },
    ],
    ['push', { en: { title: 'Hi', body: 'There', url: 'https://x.io/{{contact.city}}' } }],
    ['webhook', { en: { body: '{"name": "{{contact.city}}"}' } }],
    [
      'email',
      {
        en: { subject: 'Hi', mjml: '<mjml><mj-body></mj-body></mjml>', text: 'Hi' },
        'pt-BR': { subject: 'Oi', text: 'x' },
      },
    ],
  ])('keeps every field of %s when only the name is changed', async (channel, variants) => {
    const before = await make({ channel, variants })
    const page = await open(`/${before.templateId}`)
    await page.getByLabel('Name').fill('Other')
    await button(page, 'Save').click()
    await said(page, 'Template saved.')
    const { name, version, variants: after } = await read(before.templateId)
    expect({ name, version, after }).toEqual({ name: 'Other', version: before.version, after: before.variants })
  })

  it('removes a language, and turns HTML into MJML', async () => {
    const both = { en: { subject: 'Hi', html: '<p>x</p>' }, de: { subject: 'Hallo', html: '<p>x</p>' } }
    const { templateId } = await make({ variants: both })
    const page = await open(`/${templateId}`)
    await button(page, 'Remove English').click()
    await page.getByLabel('Format').selectOption('MJML')
    expect(await page.getByRole('textbox', { name: 'MJML' }).inputValue()).toBe('<p>x</p>')
    await page.getByRole('textbox', { name: 'MJML' }).fill('<mjml><mj-body></mj-body></mjml>')
    expect(await page.getByRole('button', { name: /^Remove/ }).count()).toBe(0)
    await button(page, 'Save').click()
    await said(page, 'Template saved.')
    expect(await read(templateId)).toMatchObject({
      defaultLanguage: 'de',
      variants: { de: { subject: 'Hallo', mjml: '<mjml><mj-body></mj-body></mjml>' } },
    })
  })

  it('says at its field what is wrong, in words for a person', async () => {
    const { templateId } = await make()
    const page = await open(`/${templateId}`)
    const plain = (text: string | null) => text?.replaceAll(/[\u2066-\u2069]/g, '')
    await page.getByLabel('Subject').fill('Hi {{contact.fistName}}')
    await button(page, 'Save').click()
    const said = page.locator(
      '#' + (await page.locator('[aria-invalid][name=subject]').getAttribute('aria-describedby')),
    )
    expect(plain(await said.textContent())).toBe(
      'No contact or event has contact.fistName. Choose one of the available values.',
    )
    await page.getByLabel('Subject').fill('Hi')
    await page.getByLabel('Name').fill('')
    await button(page, 'Save').click()
    await page.getByText('Enter 1 to 256 characters.', { exact: true }).waitFor()
  })

  it('keeps what was typed until it is saved or discarded, and says when another person has saved', async () => {
    const { templateId } = await make()
    const page = await open(`/${templateId}`)
    await page.getByLabel('Subject').fill('Typed')
    await page.getByText('The preview and the test show the saved version').waitFor()
    await page.getByRole('link', { name: 'Contacts' }).click()
    await page.getByRole('heading', { level: 1, name: 'Contacts' }).waitFor()
    await page.goBack()
    await page.getByText('Your unsaved changes').waitFor()
    expect(await page.getByLabel('Subject').inputValue()).toBe('Typed')
    await send('PATCH', `templates/${templateId}`, { variants: { en: { subject: 'Theirs', text: 'x' } } })
    await page.reload()
    await page.getByText('Someone else has saved a version').waitFor()
    await button(page, 'Discard').click()
    await page.getByText('Your unsaved changes').waitFor({ state: 'detached' })
    expect(await page.getByLabel('Subject').inputValue()).toBe('Theirs')
    await page.reload()
    await settle(page)
    expect(await page.getByText('Your unsaved changes').count()).toBe(0)
  })

  it('only shows it to an analyst', async () => {
    const { templateId } = await make()
    const page = await open(`/${templateId}`, 'analyst')
    expect(await page.getByLabel('Subject').getAttribute('readonly')).not.toBe(null)
    for (const name of ['Save', 'Delete', 'Send a test', 'Add a language'])
      expect(await button(page, name).count()).toBe(0)
    const created = await open('/new', 'analyst')
    await created.getByRole('heading', { name: 'Page not found' }).waitFor()
  })
})

describe('one template', () => {
  it('is shown as a contact would get it, in a language of choice; nothing in it runs', async () => {
    const identity = { email: 'zoe@x.io' }
    await send('POST', 'sdk/identify', { identity, profile: { name: 'Zoe Zimmer', language: 'de' } })
    const script = `<img src=x onerror="document.title=1"><script>parent.document.title = 'run'</script>`
    const { templateId } = await make({
      variants: {
        en: { subject: 'For {{contact.firstName}}', html: `<p>Hello {{contact.firstName}}</p>${script}` },
        de: { subject: 'Für {{contact.firstName}}', html: '<p>Hallo {{contact.firstName}}</p>' },
      },
    })
    const page = await open(`/${templateId}`)
    const frame = preview(page).frameLocator('iframe')
    await frame.getByText('Hello there').waitFor()
    await preview(page).getByRole('button', { name: 'An unknown person' }).click()
    await page.locator('[role=combobox]:focus').waitFor()
    await page.keyboard.type('Zoe')
    await page.getByRole('option', { name: 'Zoe Zimmer' }).first().waitFor()
    await page.keyboard.press('Enter')
    await frame.getByText('Hallo Zoe').waitFor()
    await preview(page).getByText('Für Zoe').waitFor()
    await preview(page).getByLabel('Language').selectOption('English')
    await frame.getByText('Hello Zoe').waitFor()
    await preview(page).getByText('As text').click()
    await preview(page).locator('pre').getByText('Hello Zoe').waitFor()
    expect(await page.title()).not.toBe('run')
    expect(dashboard.complaints.splice(0).join('\n')).toMatch(/sandboxed|Content Security Policy/)
  })

  it('says at each language of an email that has no link to unsubscribe, while it is written', async () => {
    const linked = { subject: 'Hi', text: 'Unsubscribe: {{unsubscribeUrl}}' }
    const { templateId } = await make({ variants: { en: linked, de: { subject: 'Hallo', text: 'Hallo' } } })
    const page = await open(`/${templateId}`)
    const note = page.getByText('No link to unsubscribe')
    expect(await note.count()).toBe(0)
    await page.getByRole('tab', { name: 'German' }).click()
    await note.waitFor()
    await page.getByLabel('Text', { exact: true }).fill('{{preferencesUrl}}')
    await note.waitFor({ state: 'detached' })
  })

  it('is sent to an address as a test, at first to the own one', async () => {
    const { templateId } = await make()
    const page = await open(`/${templateId}`)
    await button(page, 'Send a test').click()
    const dialog = page.getByRole('dialog')
    expect(await dialog.getByLabel('Email address').inputValue()).toBe(emailOf('marketer'))
    await dialog.getByLabel('Email address').fill('nonsense')
    await page.keyboard.press('Enter')
    await dialog.locator('[aria-invalid=true]').waitFor()
    await dialog.getByLabel('Email address').fill('ada@x.io')
    await page.keyboard.press('Enter')
    await dialog.getByText('It was accepted.').waitFor()
    await dialog.getByText('nothing left the server').waitFor()
    expect(await send('GET', 'channels/email/log')).toMatchObject({
      messages: [{ to: 'ada@x.io', message: { subject: 'Hello' } }],
    })
  })

  it('that a campaign names is not deleted, and says which; another one is', async () => {
    const { templateId } = await make()
    const wanted = { name: 'Onboarding', trigger: { event: 'signup' }, steps: [sendStep(templateId)] }
    const { campaign } = await send<{ campaign: { campaignId: string } }>('POST', 'campaigns', wanted)
    const page = await open(`/${templateId}`)
    await button(page, 'Delete').click()
    await page.getByRole('dialog').getByRole('link', { name: 'Onboarding' }).waitFor()
    expect(await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).count()).toBe(0)
    await page.keyboard.press('Escape')
    await send('DELETE', `campaigns/${campaign.campaignId}`)
    await button(page, 'Delete').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No templates yet').waitFor()
  })

  it('that does not exist has no page', async () => {
    const page = await open(`/${crypto.randomUUID()}`)
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
  })
})
