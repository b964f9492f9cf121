// @pages
/** The campaign pages in a real Chromium: the main tasks by mouse and by keyboard alone, and the rest. */
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { type Backtest, beginBacktest } from '../../src/campaigns/backtest/backtest-store.ts'
import { speakTo } from '../front-door/http-client.ts'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { type Dashboard, openDashboard, openPalette, settle } from './open-dashboard.ts'
import { type SentCampaign, sendCampaign } from './send-campaign.ts'
import { addUser } from './session-client.ts'
import { tabTo } from './tab-to.ts'

const HOSTILE = '<img src=x onerror="document.title=1">'

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

async function draft(json: object = {}): Promise<string> {
  const wanted = { name: 'Win back', trigger: { event: 'signup' }, ...json }
  const { campaign } = await send<{ campaign: { campaignId: string } }>('POST', 'campaigns', wanted)
  return campaign.campaignId
}

const statusOf = async (id: string) =>
  (await send<{ campaign: { status: string } }>('GET', `campaigns/${id}`)).campaign.status

const sent = (wanted?: Parameters<typeof sendCampaign>[2]): Promise<SentCampaign> =>
  sendCampaign(dashboard.service, business.secretKey, wanted)

async function open(path = '', role = 'marketer'): Promise<Page> {
  const page = await dashboard.visit(`/dashboard/b/${business.businessId}/campaigns${path}`, { email: emailOf(role) })
  await settle(page)
  return page
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const said = (page: Page, text: string) => page.getByRole('status').getByText(text).waitFor()
const fact = (page: Page, text: string) => page.getByRole('region', { name: 'About this campaign' }).getByText(text)

describe('the list', () => {
  it('says how to begin, with the call of the API for those who may', async () => {
    const reader = await open('', 'read-only')
    await reader.getByText('No campaigns yet').waitFor()
    const link = { name: 'See the API' }
    expect(await reader.getByRole('link', link).count()).toBe(0)
    const page = await open()
    await page.getByRole('link', link).click()
    await page.getByRole('heading', { name: 'Draft a campaign' }).waitFor()
  })

  it('shows newest first what starts them and what they are for; a hostile name is text', async () => {
    const rule = { tag: 'vip', operator: 'has' }
    const { segment } = await send<{ segment: { segmentId: string } }>('POST', 'segments', { name: 'VIPs', rule })
    await draft({ name: HOSTILE, trigger: { segment: segment.segmentId, on: 'leave' } })
    await draft({ name: 'Onboarding', goal: { event: 'paid' } })
    const page = await open()
    const rows = page.getByRole('row')
    await rows.filter({ hasText: 'On leaving VIPs' }).waitFor()
    expect(await rows.nth(1).innerText()).toMatch(/Onboarding\s+Draft\s+With the event signup\s+paid\s+1/)
    expect(await rows.nth(2).innerText()).toContain(HOSTILE)
    expect(await page.locator('img').count()).toBe(0)
  })

  it('is found by the palette and by a shortcut', async () => {
    const page = await dashboard.visit(`/dashboard/b/${business.businessId}/contacts`, { email: emailOf('analyst') })
    await settle(page)
    await page.keyboard.press('g')
    await page.keyboard.press('m')
    await page.getByRole('heading', { level: 1, name: 'Campaigns' }).waitFor()
    await openPalette(page)
    await page.keyboard.type('campai')
    await page.getByRole('option', { name: 'Campaigns', exact: true }).waitFor()
  })

  it('is found by its name in the palette, and opened by Enter', async () => {
    const id = await draft({ name: 'Spring offer' })
    const page = await open()
    await settle(page)
    await openPalette(page)
    await page.keyboard.type('spring of')
    await page.getByRole('option', { name: 'Spring offer' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Spring offer' }).waitFor()
    expect(page.url()).toContain(`/campaigns/${id}`)
  })
})

describe('the status', () => {
  it('changes by mouse: publish, pause, resume, archive', async () => {
    const id = await draft()
    const page = await open()
    await page.getByRole('link', { name: 'Win back' }).click()
    await page.getByText('A draft enrols nobody').waitFor()
    await button(page, 'Publish').click()
    await said(page, 'Campaign published.')
    await button(page, 'Pause').click()
    await said(page, 'Campaign paused.')
    expect(await statusOf(id)).toBe('paused')
    await page.getByText('While it is paused').waitFor()
    await button(page, 'Resume').click()
    await said(page, 'Campaign resumed.')
    await fact(page, 'Published').waitFor()
    expect(await statusOf(id)).toBe('published')
    await button(page, 'Archive').click()
    await page.getByRole('dialog').getByText('“Win back” ends for good').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Archive' }).click()
    await fact(page, 'Archived').waitFor()
    expect(await statusOf(id)).toBe('archived')
    expect(await page.locator('main').getByRole('button').allInnerTexts()).toEqual(['Duplicate'])
    expect(await page.getByRole('link', { name: 'Edit' }).count()).toBe(0)
    await page.getByRole('link', { name: 'Campaigns' }).click()
    await page.getByRole('row').filter({ hasText: 'Win back' }).getByText('Archived').waitFor()
  })

  it('changes by keyboard alone', async () => {
    const id = await draft()
    await send('POST', `campaigns/${id}/publish`)
    const page = await open()
    await tabTo(page, page.locator('[role=row]'))
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Win back' }).waitFor()
    await tabTo(page, page.locator('button:has-text("Pause")'))
    await page.keyboard.press('Enter')
    await said(page, 'Campaign paused.')
    expect(await statusOf(id)).toBe('paused')
    // The button keeps the focus, and resumes now.
    await page.locator(':focus').and(button(page, 'Resume')).waitFor()
    await page.keyboard.press('Enter')
    await said(page, 'Campaign resumed.')
    expect(await statusOf(id)).toBe('published')
    await tabTo(page, page.locator('button:has-text("Archive")'))
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await statusOf(id)).toBe('published')
  })

  it('stays a draft when it cannot be published, and says where the fault is; a draft is deleted', async () => {
    const template = crypto.randomUUID()
    const id = await draft({ steps: [{ type: 'exit' }, { type: 'send', channel: 'email', template }] })
    const page = await open(`/${id}`)
    await button(page, 'Publish').click()
    const alert = page.getByRole('alert')
    await alert.getByText('This campaign cannot be published yet:').waitFor()
    await alert.getByText('steps[1].template is not a template of the business').waitFor()
    expect(await statusOf(id)).toBe('draft')
    await button(page, 'Delete').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No campaigns yet').waitFor()
  })

  it('says before it is published which marketing mails have no link to unsubscribe', async () => {
    const templateOf = async (name: string, text: string) => {
      const json = { name, channel: 'email', variants: { en: { subject: 'Hi', text } }, defaultLanguage: 'en' }
      return (await send<{ template: { templateId: string } }>('POST', 'templates', json)).template.templateId
    }
    const [bare, linked] = [await templateOf('Bare', 'Hi'), await templateOf('Linked', '{{unsubscribeUrl}}')]
    const step = (template: string, kind?: string) => ({ type: 'send', channel: 'email', template, kind })
    const page = await open(`/${await draft({ steps: [step(bare), step(linked)] })}`)
    await page.getByText('Marketing mails without a link to unsubscribe: \u2068Bare\u2069.').waitFor()
    const other = await open(`/${await draft({ steps: [step(bare, 'transactional'), step(linked)] })}`)
    await other.getByText('A draft enrols nobody.').waitFor()
    await settle(other)
    expect(await other.getByText('Marketing mails without').count()).toBe(0)
  })

  it.each([
    ['en', 'Without PUBLIC_URL, '],
    ['de', 'Ohne PUBLIC_URL '],
    ['he', 'בלי \u2066PUBLIC_URL\u2069 '],
  ] as const)('is shown with what a missing PUBLIC_URL means for its messages, in %s', async (language, words) => {
    const note = async (channel: string, tracking = {}) => {
      const steps = [{ type: 'send', channel, template: crypto.randomUUID() }]
      const path = `/dashboard/b/${business.businessId}/campaigns/${await draft({ steps, tracking })}`
      const page = await dashboard.visit(path, { email: emailOf('marketer'), language })
      await settle(page)
      return page.getByText(words).allInnerTexts()
    }
    const [all] = await note('email')
    const [links] = await note('email', { opens: false, clicks: false })
    expect(links).toMatch(words)
    expect(all!.length).toBeGreaterThan(links!.length)
    expect(await note('sms')).toEqual([links])
    expect(await note('webhook')).toEqual([])
  })

  it('says to an operator what to do about a missing PUBLIC_URL, and to others whom to ask', async () => {
    const id = await draft({ steps: [{ type: 'send', channel: 'email', template: randomUUID() }] })
    const note = async (email: string) => {
      const page = await dashboard.visit(`/dashboard/b/${business.businessId}/campaigns/${id}`, { email })
      await settle(page)
      return page.getByText('Without PUBLIC_URL, ').innerText()
    }
    expect(await note('operator@x.io')).toMatch(/ Set PUBLIC_URL and restart Sluice\.$/)
    expect(await note(emailOf('marketer'))).toMatch(/ Your operator sets it\.$/)
  })

  it('that changed meanwhile fails with the words of the server', async () => {
    const id = await draft()
    await send('POST', `campaigns/${id}/publish`)
    const page = await open(`/${id}`)
    await send('POST', `campaigns/${id}/archive`)
    await button(page, 'Pause').click()
    await page.getByRole('alert').getByText('The campaign is archived and can no longer be changed.').waitFor()
  })
})

describe('one campaign', () => {
  it('has its steps in words, with both branches', async () => {
    const steps = [
      { type: 'wait', for: 'P1DT12H' },
      {
        type: 'wait_for',
        event: 'purchase',
        timeout: 'P7D',
        steps: [{ type: 'exit' }],
        otherwise: [{ type: 'wait_until', time: '09:00', weekdays: [1, 5] }],
      },
      { type: 'branch', rule: { tag: 'vip', operator: 'has' }, otherwise: [{ type: 'wait', for: 'PT90M' }] },
      {
        type: 'split',
        parts: [{ percent: 12.5, steps: [{ type: 'wait', for: 'P1W' }] }, { percent: 87.5 }],
      },
    ]
    const { campaignId } = await sent({ name: HOSTILE, steps })
    const page = await open(`/${campaignId}`)
    await page.getByRole('link', { name: 'Steps' }).click()
    const list = page.getByRole('region', { name: 'Steps' })
    await list.getByText(`Send email ${HOSTILE}`).waitFor()
    const words = (await list.innerText()).replaceAll(/\s+/g, ' ')
    expect(words).toContain('Wait 1 day and 12 hours')
    expect(words).toMatch(
      /3\. Wait for purchase, at most 7 days When it arrives 3a\.1\. End here When time runs out 3b\.1\. Wait until 09:00 on Monday or Friday/,
    )
    expect(words).toMatch(/4\. If .*vip.* If so Nothing. Continues below. If not 4b\.1\. Wait 90 minutes/)
    expect(words).toMatch(/5\. Split at random 12.5% of the contacts 5a\.1\. Wait 1 week 87.5% of the contacts Nothing/)
    expect(await page.locator('img').count()).toBe(0)
  })

  it('reports who is in it and what was sent', async () => {
    const { campaignId, contactId } = await sent({ steps: [{ type: 'wait', for: 'P3D' }] })
    await send('POST', 'sdk/track', { event: 'signup', identity: { email: 'bob@x.io' } })
    const skipped = () => send<{ messages: object[] }>('GET', `messages?campaignId=${campaignId}&state=skipped`)
    await expect.poll(async () => (await skipped()).messages.length).toBe(1)
    await send('POST', 'sdk/track', { event: 'paid', identity: { email: 'zoe@x.io' } })
    const page = await open(`/${campaignId}`)
    const totals = (await page.getByRole('region', { name: 'Enrolments' }).innerText()).replaceAll(/\s+/g, ' ')
    expect(totals).toContain('Enrolled 2 Active 1 Finished 0 Converted 1 Stopped 0 Merged 0 Conversion rate 50%')
    const sends = page.getByRole('list', { name: 'What was sent' })
    expect((await sends.innerText()).replaceAll(/\s+/g, ' ')).toBe(
      '1. Send email Welcome Being sent 0 Sent 1 Delivered 0 Bounced 0 Complained 0 Failed 0 Unknown 0 Skipped, and why 1 no opt-in',
    )

    await page.getByRole('link', { name: 'Enrolments' }).click()
    const list = page.getByRole('grid', { name: 'Enrolments' })
    await list.getByText('Wait 3 days').waitFor()
    await page.getByLabel('State').selectOption({ label: 'Converted' })
    await list.getByText('Wait 3 days').waitFor({ state: 'detached' })
    await list.getByRole('link', { name: 'Zoe Zimmer' }).click()
    await page.waitForURL(`**/contacts/${contactId}`)
  })

  it.each(['en', 'he'] as const)('reports every figure of a step on a narrow screen too, in %s', async (language) => {
    const name = 'An offer with a very long name that does not fit into one line'
    const later = { type: 'send', channel: 'sms', template: randomUUID() }
    const { campaignId } = await sent({ name, steps: [{ type: 'wait', for: 'P3D' }] })
    const waiting = await draft({ steps: [{ type: 'wait', for: 'P3D' }, later] })
    const path = `/dashboard/b/${business.businessId}/campaigns`
    for (const [id, number] of [
      [campaignId, '1.'],
      [waiting, '2.'],
    ] as const)
      for (const width of [390, 1280]) {
        const page = await dashboard.visit(`${path}/${id}`, { email: emailOf('marketer'), width, language })
        await settle(page)
        const step = page.locator('main ol > li').first()
        expect((await step.innerText()).startsWith(number)).toBe(true)
        const boxes = await Promise.all((await step.locator('p, dt, dd').all()).map((one) => one.boundingBox()))
        // The step, and a label and a number for each of seven states and the skipped ones.
        expect(boxes).toHaveLength(17)
        for (const box of boxes) expect([box!.x >= 0, box!.x + box!.width <= width]).toEqual([true, true])
      }
  })

  it.each(['en', 'de', 'he'] as const)('has all its figures in one row on a wide screen, in %s', async (language) => {
    const { campaignId } = await sent()
    await send('POST', 'sdk/track', { event: 'signup', identity: { email: 'bob@x.io' } })
    const skipped = () => send<{ messages: object[] }>('GET', `messages?campaignId=${campaignId}&state=skipped`)
    await expect.poll(async () => (await skipped()).messages.length).toBe(1)
    const path = `/dashboard/b/${business.businessId}/campaigns/${campaignId}`
    const page = await dashboard.visit(path, { email: emailOf('marketer'), language })
    await settle(page)
    const lists = page.locator('main dl:has(> :nth-child(7))')
    expect(await lists.count()).toBe(2)
    for (const list of await lists.all()) {
      const boxes = await Promise.all((await list.locator('> div').all()).map((one) => one.boundingBox()))
      expect(new Set(boxes.map((box) => box!.y)).size).toBe(1)
    }
  })

  it('shows a message as it was sent: nothing in it runs', async () => {
    const html = `<p>Hello {{contact.firstName}}</p>${HOSTILE}<script>parent.document.title = 'run'</script>`
    const { campaignId } = await sent({ html })
    const page = await open(`/${campaignId}?tab=messages`, 'analyst')
    await page.getByRole('row').filter({ hasText: 'Zoe Zimmer' }).focus()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Email' })
    await dialog.getByText('zoe@x.io').waitFor()
    await dialog.getByText('Being sent').waitFor()
    await dialog.frameLocator('iframe').getByText('Hello Zoe').waitFor()
    expect(await page.title()).not.toBe('run')
    // The frame complains about the script and the image that it does not load.
    expect(dashboard.complaints.splice(0).join('\n')).toMatch(/sandboxed|Content Security Policy/)
    await dialog.getByText('As text').click()
    await dialog.locator('pre').getByText('Hello Zoe').waitFor()
    await page.keyboard.press('Escape')
    await page.getByLabel('State').selectOption({ label: 'Failed' })
    await page.getByText('None in this state').waitFor()
    await page.reload()
    await page.getByText('None in this state').waitFor()
  })

  it('lets a marketer settle a message whose outcome is unknown, and an analyst not', async () => {
    const { campaignId, messageId } = await sent()
    await dashboard.service.sql`update messages set state = 'unknown' where id = ${messageId}`
    const openMessage = async (role: string) => {
      const page = await open(`/${campaignId}?tab=messages&state=unknown`, role)
      await page.getByRole('row').filter({ hasText: 'Zoe Zimmer' }).getByText('Unknown').click()
      await page.getByRole('dialog').getByText('What was sent').waitFor()
      return page
    }
    const analyst = await openMessage('analyst')
    expect(await button(analyst, 'It was sent').count()).toBe(0)
    const page = await openMessage('marketer')
    await button(page, 'It was not sent').click()
    await said(page, 'Message settled.')
    await page.getByRole('dialog').getByText('Failed').first().waitFor()
    expect(await send('GET', `messages/${messageId}`)).toMatchObject({ message: { state: 'failed' } })
  })

  it('is without people and changes for those who only read', async () => {
    const { campaignId } = await sent()
    const page = await open(`/${campaignId}?tab=messages`, 'read-only')
    const tabs = page.getByRole('navigation', { name: 'Parts of this page' }).getByRole('link')
    expect(await tabs.allInnerTexts()).toEqual(['Report', 'Steps'])
    expect(await page.locator('main').getByRole('button').count()).toBe(0)
    expect(await page.getByText('Zoe').count()).toBe(0)
    await tabs.getByText('Report').click()
    await page.getByRole('list', { name: 'What was sent' }).waitFor()
  })

  it('that does not exist has no page', async () => {
    const page = await open(`/${crypto.randomUUID()}`)
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
  })
})

describe('a contact', () => {
  it('has the messages of all campaigns, each with what was sent', async () => {
    const { contactId } = await sent()
    const path = `/dashboard/b/${business.businessId}/contacts/${contactId}`
    const page = await dashboard.visit(path, { email: emailOf('analyst') })
    await settle(page)
    const list = page.getByRole('region', { name: 'Messages' })
    await list.getByRole('row').filter({ hasText: 'Welcome' }).getByText('Sent').click()
    await page.getByRole('dialog').frameLocator('iframe').getByText('Hello Zoe').waitFor()
    await page.keyboard.press('Escape')
    await list.getByRole('link', { name: 'Welcome' }).click()
    await page.getByRole('heading', { level: 1, name: 'Welcome' }).waitFor()
  })

  it('to whom nothing was sent says so', async () => {
    const { contactId } = await send<{ contactId: string }>('POST', 'sdk/identify', { identity: { email: 'al@x.io' } })
    const path = `/dashboard/b/${business.businessId}/contacts/${contactId}`
    const page = await dashboard.visit(path, { email: emailOf('analyst') })
    await page.getByText('No campaign has sent a message to this contact.').waitFor()
  })
})

describe('the editor', () => {
  const json = (page: Page) => page.getByLabel('The campaign as JSON')
  const save = (page: Page) => button(page, 'Save')

  it('drafts a campaign from JSON, and shows at which path the server finds a fault', async () => {
    const page = await open()
    await page.getByRole('link', { name: 'New campaign' }).click()
    await page.getByRole('link', { name: 'JSON' }).click()
    await json(page).fill('{ "name": ')
    await page.getByText('This is not valid JSON:').waitFor()
    expect(await save(page).isDisabled()).toBe(true)
    await json(page).fill('[]')
    await page.getByText('it must be an object').waitFor()
    const steps = [{ type: 'wait', for: 'P1M' }]
    await json(page).fill(JSON.stringify({ name: 'By hand', trigger: { event: 'signup' }, steps }))
    await save(page).click()
    await page.getByRole('alert').getByText('steps[0].for').waitFor()
    await json(page).fill(
      JSON.stringify({ name: 'By hand', trigger: { event: 'signup' }, steps: [{ type: 'wait', for: 'P2D' }] }),
    )
    await save(page).click()
    await page.getByRole('heading', { level: 1, name: 'By hand' }).waitFor()
    await page.getByText('Wait 2 days').waitFor()
    await fact(page, 'Draft').waitFor()
  })

  it('makes a new version of a published campaign, and keeps what is locked', async () => {
    const { campaignId } = await sent()
    const page = await open(`/${campaignId}`)
    await page.getByRole('link', { name: 'Edit' }).click()
    await page.getByText('Saving makes a new version.').waitFor()
    await page.getByRole('link', { name: 'JSON' }).click()
    const text = await json(page).inputValue()
    await json(page).fill(text.replace('"event": "signup"', '"event": "another"'))
    await save(page).click()
    await page.getByRole('alert').getByText('trigger cannot change once a campaign was published.').waitFor()
    const changed = JSON.parse(text) as { steps: object[] }
    changed.steps.push({ type: 'wait', for: 'PT5M' })
    await json(page).fill(JSON.stringify(changed))
    await save(page).click()
    await page.getByText('Wait 5 minutes').waitFor()
    await fact(page, '2').waitFor()
  })

  it('keeps what was typed when the page is left, and is not there for those who only read', async () => {
    const id = await draft()
    const page = await open(`/${id}/edit?view=json`)
    await json(page).fill('{}')
    await page.getByRole('link', { name: 'Contacts' }).click()
    await page.getByRole('heading', { level: 1, name: 'Contacts' }).waitFor()
    await page.goBack()
    await page.getByText('Your unsaved changes').waitFor()
    expect(await json(page).inputValue()).toBe('{}')
    for (const path of [`/${id}/edit`, '/new'])
      await (await open(path, 'analyst')).getByRole('heading', { name: 'Page not found' }).waitFor()
  })
})

describe('the simulation', () => {
  const simulate = (page: Page) => button(page, 'Simulate').click()
  const result = (page: Page) => page.getByRole('region', { name: 'What would happen' })

  it('says what a contact would be sent, when and why not, with the message', async () => {
    const { campaignId } = await sent({ name: HOSTILE, steps: [{ type: 'wait', for: 'P3D' }] })
    const page = await open(`/${campaignId}?tab=simulate`, 'analyst')
    expect(await button(page, 'Simulate').isDisabled()).toBe(true)
    await button(page, 'Choose a contact').click()
    await page.keyboard.type('Zoe')
    await page.keyboard.press('Enter')
    await button(page, 'Choose a contact').waitFor({ state: 'detached' })
    await simulate(page)
    await result(page).getByText('Sent', { exact: true }).waitFor()
    await result(page).getByText('The message').click()
    await result(page).locator('pre').getByText('Hello Zoe').waitFor()
    await result(page).getByText('The enrolment finishes:').waitFor()
    expect(await page.locator('img').count()).toBe(0)
  })

  it('takes a made-up person and what they do, and shows what the server refuses at its field', async () => {
    const { campaignId } = await sent({ steps: [{ type: 'wait', for: 'P3D' }] })
    const page = await open(`/${campaignId}?tab=simulate`)
    await page.getByLabel('With').selectOption('A made-up person')
    await page.getByLabel('Email address').fill('nonsense')
    await simulate(page)
    await page.getByLabel('Email address').and(page.locator('[aria-invalid]')).waitFor()
    await page.getByLabel('Email address').fill('new@x.io')
    await page.getByLabel('Name', { exact: true }).fill('Nia')
    await page.getByLabel('Enrolled at').fill('2026-12-01T09:00')
    await button(page, 'Add an event').click()
    await page.getByRole('group', { name: 'Event 1' }).getByLabel('Event', { exact: true }).fill('paid')
    await page.getByRole('group', { name: 'Event 1' }).getByLabel('At', { exact: true }).fill('2026-12-02T09:00')
    await simulate(page)
    await result(page).getByText('The enrolment converts:').waitFor()
    await result(page).getByText('The message').click()
    await result(page).locator('pre').getByText('Hello Nia').waitFor()
  })
})

describe('the backtest', () => {
  const begin = (page: Page) => button(page, 'Start the backtest')
  const result = (page: Page) => page.getByRole('region', { name: 'What would have happened' })

  it('says what would have happened, step by step, and leads to those to whom', async () => {
    const { campaignId, contactId } = await sent({ name: HOSTILE, steps: [{ type: 'wait', for: 'P3D' }] })
    const page = await open(`/${campaignId}`, 'analyst')
    await page.getByRole('link', { name: 'Backtest' }).click()
    await begin(page).click()
    await result(page).getByText('Messages sent').waitFor()
    const steps = page.getByRole('list', { name: 'Step by step' }).getByRole('listitem')
    expect(await steps.nth(0).innerText()).toMatch(
      /^1\. Send email <img src=x[^]*>\s+Reached\s+1\s+Sent\s+1\s+Skipped\s+0$/,
    )
    expect(await steps.nth(1).innerText()).toMatch(/^2\. Wait 3 days\s+\w+\s+1$/)
    await page.getByText('It uses today’s addresses and time zones.').waitFor()
    await page.reload()
    await result(page).getByText('Messages sent').waitFor()
    await page.getByRole('link', { name: 'Zoe Zimmer' }).click()
    await page.waitForURL(`**/contacts/${contactId}`)
    expect(await page.locator('img').count()).toBe(0)
  })

  it('is started and opened by keyboard alone', async () => {
    const { campaignId } = await sent()
    const page = await open(`/${campaignId}?tab=backtest`)
    await tabTo(page, page.locator('button[type=submit]'))
    await page.keyboard.press('Enter')
    await result(page).getByText('Messages sent').waitFor()
    await tabTo(page, page.locator('main ol a'))
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Zoe Zimmer' }).waitFor()
  })

  it('shows what the server refuses at its field, and a backtest that is running, which can be cancelled', async () => {
    const campaignId = await draft()
    const page = await open(`/${campaignId}?tab=backtest`)
    await page.getByLabel('From', { exact: true }).fill('2024-01-01T00:00')
    await begin(page).click()
    await page.getByLabel('Until').and(page.locator('[aria-invalid]')).waitFor()
    const backtestId = randomUUID()
    const { businessId } = business
    const progress = { done: 1200, total: 4800 }
    const running: Backtest = {
      backtestId,
      campaignId,
      version: 1,
      from: '2026-01-01T00:00:00.000Z',
      to: '2026-02-01T00:00:00.000Z',
      status: 'running',
      startedAt: '2026-02-01T00:00:00.000Z',
      endedAt: null,
      progress,
      result: null,
      error: null,
    }
    expect(await beginBacktest(dashboard.service.redis, businessId, running)).toBe('begun')
    await page.goto(new URL(`?tab=backtest&backtest=${backtestId}`, page.url()).href)
    await page.getByText('1,200 of 4,800 contacts').waitFor()
    expect(await page.getByRole('progressbar').getAttribute('value')).toBe('1200')
    await button(page, 'Cancel').click()
    await page.getByText('The backtest was cancelled.').waitFor()
    await page.goto(new URL(`?tab=backtest&backtest=${randomUUID()}`, page.url()).href)
    await page.getByText('This backtest is no longer available').waitFor()
  })

  it.each(['en', 'de', 'he'] as const)('has its fields and hints beside each other, in %s', async (language) => {
    const path = `/dashboard/b/${business.businessId}/campaigns/${await draft()}?tab=backtest`
    const page = await dashboard.visit(path, { email: emailOf('marketer'), language })
    await page.locator('form input[name=to]').waitFor()
    const fields = await Promise.all((await page.locator('form input').all()).map((one) => one.boundingBox()))
    const [one, other] = fields.toSorted((a, b) => a!.x - b!.x)
    expect(one!.y).toBe(other!.y)
    expect(one!.x + one!.width).toBeLessThan(other!.x)
  })

  it('is not there for those who may see no contacts', async () => {
    const page = await open(`/${await draft()}?tab=backtest`, 'read-only')
    await page.getByRole('link', { name: 'Steps' }).waitFor()
    expect(await page.getByRole('link', { name: 'Backtest' }).count()).toBe(0)
    expect(await begin(page).count()).toBe(0)
  })
})

it('is duplicated as a draft, and reports a time of choice', async () => {
  const { campaignId } = await sent()
  const page = await open(`/${campaignId}`)
  await page.getByLabel('Enrolled from').fill('2020-01-01')
  const enrolled = page.getByRole('region', { name: 'Enrolments' })
  await enrolled.getByText('100%').or(enrolled.getByText('0%')).first().waitFor()
  await page.getByLabel('To', { exact: true }).fill('2020-01-02')
  await enrolled.getByText('–').waitFor()
  await page.reload()
  await enrolled.getByText('–').waitFor()
  await button(page, 'Duplicate').click()
  await said(page, 'The copy is a draft.')
  await page.getByRole('heading', { level: 1, name: 'Welcome (copy)' }).waitFor()
  await fact(page, 'Draft').waitFor()
  await page.getByRole('region', { name: 'Steps' }).getByText('Send email Welcome').waitFor()
})
