// @pages
/** The list of contacts and the page of one, in a real Chromium, by mouse and by keyboard. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { type Dashboard, openDashboard } from './open-dashboard.ts'
import { addUser } from './session-client.ts'
import { enter, tabTo, typeInto } from './tab-to.ts'

const HOSTILE = '<img src=x onerror="document.title=1">'

let dashboard: Dashboard
let business: TestBusiness
beforeAll(async () => {
  dashboard = await openDashboard()
  business = await createBusiness(dashboard.service.sql, { name: 'Bookshop' })
  await addUser(dashboard.service.sql, 'keeper@x.io', { businessId: business.businessId, role: 'owner' })
  for (const role of ['marketer', 'read-only'] as const) {
    await addUser(dashboard.service.sql, `${role}2@x.io`, { businessId: business.businessId, role })
  }
  await track('ann@x.io', { event: 'purchase', value: 20, tags: ['vip'] }, 'Ann Archer')
  await track('bob@x.io', { event: 'signup' }, 'Bob Baker')
  await track(
    'eve@x.io',
    { event: HOSTILE, properties: { note: HOSTILE }, traits: { note: HOSTILE }, tags: [HOSTILE] },
    HOSTILE,
  )
  await track('gone@x.io', { event: 'signup' }, 'Gone Girl')
})
afterAll(() => dashboard.close())
afterEach(() => {
  if (dashboard.complaints.length > 0) throw new Error(dashboard.complaints.splice(0).join('\n'))
})

async function track(email: string, event: object, name: string): Promise<void> {
  await send('POST', '/api/sdk/track', { identity: { email }, idempotencyKey: `${email} 1`, ...event })
  await send('POST', '/api/sdk/identify', { identity: { email }, profile: { name } })
}

interface Sent {
  data: { campaign?: { campaignId: string } }
}

async function send(method: string, path: string, body: object = {}): Promise<Sent> {
  const response = await fetch(dashboard.service.url + path, {
    method,
    headers: { Authorization: `Bearer ${business.secretKey}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect([path, response.status]).toEqual([path, 200])
  return (await response.json()) as Sent
}

const addView = (name: string, filters: object) => dashboard.service.sql`
  insert into saved_views (business_id, id, name, filters)
  values (${business.businessId}, gen_random_uuid(), ${name}, ${JSON.stringify(filters)}::text::jsonb)`
const viewsNow = () => dashboard.service.sql`
  select name, filters from saved_views where business_id = ${business.businessId} order by name`
async function removeViews(): Promise<void> {
  await dashboard.service.sql`delete from saved_views where business_id = ${business.businessId}`
}

const list = (search = '') => `/dashboard/b/${business.businessId}/contacts${search}`
const open = (path: string, email = 'keeper@x.io') => dashboard.visit(path, { email })
const rows = (page: Page) => page.getByRole('grid').getByRole('row')

describe('the list', () => {
  afterEach(removeViews)

  it('shows contacts newest first, and how many there are', async () => {
    const page = await open(list())
    await page.getByText('4 contacts').waitFor()
    expect(await rows(page).nth(1).innerText()).toContain('Gone Girl')
    expect(await rows(page).nth(4).innerText()).toContain('Ann Archer')
    expect(await rows(page).nth(4).innerText()).toContain('$20')
  })

  it('searches while one types, and keeps the search in the address', async () => {
    const page = await open(list())
    await page.getByRole('searchbox', { name: /^Search name/ }).fill('archer')
    await page.waitForURL(/query=archer/)
    // The former rows stay until the answer arrives.
    await expect.poll(() => rows(page).count()).toBe(2)
    await page.reload()
    await page.getByRole('link', { name: 'Ann Archer' }).waitFor()
    await page.getByRole('searchbox', { name: /^Search name/ }).fill('nobody at all')
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByText('4 contacts').waitFor()
  })

  it('filters by stage and by tag from the address', async () => {
    const page = await open(list('?tag=vip'))
    await page.getByRole('link', { name: 'Ann Archer' }).waitFor()
    expect(await rows(page).count()).toBe(2)
  })

  it('filters by a custom field, and saves the filters under a name for everyone; deletes them again', async () => {
    const page = await open(list('?tag=vip'))
    await page.getByLabel('Custom field').selectOption('note')
    await page.getByRole('searchbox', { name: 'Value of the field' }).fill('other')
    await page.getByText('No contacts match').waitFor()
    await page.goto(`${dashboard.service.url}${list()}?field=note&value=${encodeURIComponent(JSON.stringify(HOSTILE))}`)
    await expect.poll(() => rows(page).count()).toBe(2)
    await page.goto(dashboard.service.url + list('?tag=vip'))
    await page.getByRole('link', { name: 'Ann Archer' }).waitFor()
    await page.getByRole('button', { name: 'Save view' }).click()
    await page.getByLabel('Name of the view').fill('Best <b>people</b>')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Best <b>people</b>' }).waitFor()
    const other = await open(list())
    await other.getByText('4 contacts').waitFor()
    await other.getByRole('link', { name: 'Best <b>people</b>' }).click()
    await other.waitForURL(/tag=vip/)
    await expect.poll(() => rows(other).count()).toBe(2)
    await page.getByRole('button', { name: 'Actions for the view' }).click()
    await page.getByRole('menuitem', { name: 'Delete view' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete view' }).click()
    await page.getByText('4 contacts').waitFor()
    expect(await page.getByRole('link', { name: 'Best' }).count()).toBe(0)
  })

  it('says in the language of the page why a name is refused', async () => {
    await addView('Käufer', { tag: 'vip' })
    for (const [language, save, name, text] of [
      ['de', 'Ansicht speichern', 'Name der Ansicht', 'Diesen Namen gibt es schon'],
      ['he', 'שמירת תצוגה', 'שם התצוגה', 'השם הזה כבר קיים'],
    ] as const) {
      const page = await dashboard.visit(list('?stage=Decision'), { email: 'keeper@x.io', language })
      await page.getByRole('button', { name: save }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel(name).fill('Käufer')
      await dialog.getByRole('button', { name: language === 'de' ? 'Speichern' : 'שמירה', exact: true }).click()
      await dialog.getByText(text).waitFor()
    }
  })

  it('shows which filter is refused where no field does, in the language of the page', async () => {
    const page = await dashboard.visit(list(`?tag=${'x'.repeat(300)}`), { email: 'keeper@x.io', language: 'de' })
    const alert = page.getByRole('alert').filter({ hasText: 'höchstens' })
    await alert.first().waitFor()
    expect(await alert.first().locator('code').innerText()).toBe('tag')
    expect(await alert.first().innerText()).not.toContain('must be')
  })

  it('renames a view, and saves changed filters into it; a name that is taken stands at its field', async () => {
    await addView('Buyers', { tag: 'vip' })
    await addView('Deciders', { stage: 'Decision' })
    const page = await open(list('?tag=vip'))
    await page.getByRole('button', { name: 'Actions for the view “Buyers”' }).click()
    await page.getByRole('menuitem', { name: 'Rename view' }).click()
    const dialog = page.getByRole('dialog')
    expect(await dialog.getByLabel('Name of the view').inputValue()).toBe('Buyers')
    await dialog.getByLabel('Name of the view').fill('Deciders')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('This name is taken already.').waitFor()
    await dialog.getByLabel('Name of the view').fill('Best buyers')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('link', { name: 'Best buyers' }).waitFor()
    await page.getByRole('combobox', { name: 'Stage' }).selectOption('Awareness')
    await page.waitForURL(/stage=Awareness/)
    await page.getByRole('button', { name: 'Save view' }).click()
    // The view that was shown before.
    expect(await dialog.getByLabel('Save as').locator('option:checked').innerText()).toBe('Best buyers')
    expect(await dialog.getByLabel('Name of the view').count()).toBe(0)
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Actions for the view “Best buyers”' }).waitFor()
    expect(await viewsNow()).toEqual([
      { name: 'Best buyers', filters: { tag: 'vip', stage: 'Awareness' } },
      { name: 'Deciders', filters: { stage: 'Decision' } },
    ])
    // With filters that belong to no view, a new view is offered first.
    await page.getByRole('link', { name: 'All contacts' }).click()
    await page.getByRole('searchbox', { name: 'Tag' }).fill('other')
    await page.getByRole('button', { name: 'Save view' }).click()
    expect(await dialog.getByLabel('Save as').locator('option:checked').innerText()).toBe('A new view')
    await dialog.getByLabel('Save as').selectOption('Deciders')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Actions for the view “Deciders”' }).waitFor()
    expect((await viewsNow())[1]).toEqual({ name: 'Deciders', filters: { tag: 'other' } })
  })

  it('says so when a view that is renamed or saved into was deleted meanwhile', async () => {
    await addView('Buyers', { tag: 'vip' })
    const page = await open(list('?tag=vip'))
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Actions for the view “Buyers”' }).click()
    await page.getByRole('menuitem', { name: 'Rename view' }).click()
    await removeViews()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('There is no view with this id').waitFor()
    await addView('Buyers', { tag: 'vip' })
    await page.goto(page.url())
    await page.getByRole('button', { name: 'Actions for the view “Buyers”' }).waitFor()
    await page.getByRole('combobox', { name: 'Stage' }).selectOption('Awareness')
    await page.getByRole('button', { name: 'Save view' }).click()
    await removeViews()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('There is no view with this id').waitFor()
  })

  it('keeps the name that a colleague has given meanwhile to a view that is saved into, and opens no dialog for another view', async () => {
    await addView('Buyers', { tag: 'vip' })
    await addView('Deciders', { stage: 'Decision' })
    const page = await open(list('?tag=vip'))
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Actions for the view “Buyers”' }).waitFor()
    await page.getByRole('combobox', { name: 'Stage' }).selectOption('Awareness')
    await page.getByRole('button', { name: 'Save view' }).click()
    await dashboard.service.sql`update saved_views set name = 'Best buyers' where name = 'Buyers'`
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('button', { name: 'Actions for the view “Best buyers”' }).waitFor()
    expect((await viewsNow())[0]).toEqual({ name: 'Best buyers', filters: { tag: 'vip', stage: 'Awareness' } })
    await page.getByRole('link', { name: 'Deciders' }).click()
    await page.getByRole('button', { name: 'Actions for the view “Deciders”' }).waitFor()
    await page.getByRole('link', { name: 'Best buyers' }).click()
    await page.getByRole('button', { name: 'Actions for the view “Best buyers”' }).click()
    await page.getByRole('menuitem', { name: 'Rename view' }).click()
    await dialog.waitFor()
    await page.goBack()
    await page.getByRole('button', { name: 'Actions for the view “Deciders”', includeHidden: true }).waitFor()
    expect(await dialog.count()).toBe(0)
  })

  it('saves, renames, changes and deletes a view by keyboard alone', async () => {
    const page = await open(list('?tag=vip'))
    await page.getByRole('link', { name: 'Ann Archer' }).waitFor()
    const dialog = page.getByRole('dialog')
    const actions = page.getByRole('button', { name: /^Actions for the view/ })
    await enter(page, page.getByRole('button', { name: 'Save view' }))
    await dialog.waitFor()
    await page.keyboard.type('First')
    await page.keyboard.press('Enter')
    await enter(page, actions)
    await page
      .locator(':focus')
      .and(page.getByRole('menuitem', { name: 'Rename view' }))
      .waitFor()
    await page.keyboard.press('Enter')
    await dialog.waitFor()
    await typeInto(page, dialog.getByLabel('Name of the view'), 'Second')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: 'Second' }).waitFor()
    await typeInto(page, page.getByRole('searchbox', { name: 'Tag' }), 'gold')
    await enter(page, page.getByRole('button', { name: 'Save view' }))
    await enter(page, dialog.getByRole('button', { name: 'Save' }))
    await dialog.waitFor({ state: 'detached' })
    expect(await viewsNow()).toEqual([{ name: 'Second', filters: { tag: 'gold' } }])
    await enter(page, actions)
    await page
      .locator(':focus')
      .and(page.getByRole('menuitem', { name: 'Rename view' }))
      .waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await enter(page, dialog.getByRole('button', { name: 'Delete view' }))
    await page.getByText('4 contacts').waitFor()
    expect(await viewsNow()).toEqual([])
  })

  it('keeps its rows when the next page fails, and asks for that again only when the person does', async () => {
    const page = await dashboard.visit('/dashboard/account', { email: 'keeper@x.io' })
    let refused = 0
    let isUp = false
    await page.route(/\/contacts\?/, async (route) => {
      const isNext = route.request().url().includes('cursor=next')
      if (isNext && !isUp) {
        refused += 1
        return route.fulfill({ status: 400, json: { success: false, message: 'No', error: { code: 'no_page' } } })
      }
      if (isNext) return route.fulfill({ json: { success: true, data: { contacts: [], nextCursor: null } } })
      const response = await route.fetch()
      const { data, ...rest } = (await response.json()) as { data: object }
      return route.fulfill({ response, json: { ...rest, data: { ...data, nextCursor: 'next' } } })
    })
    await page.goto(dashboard.service.url + list())
    await page.getByRole('alert').waitFor()
    expect(await rows(page).count()).toBe(5)
    // Each of these renders the list again.
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowUp']) await rows(page).nth(1).press(key)
    expect(refused).toBe(1)
    isUp = true
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('alert').waitFor({ state: 'detached' })
    expect(await rows(page).count()).toBe(5)
  })

  it('opens a contact by keyboard alone', async () => {
    const page = await open(list())
    await page.getByText('4 contacts').waitFor()
    await rows(page).nth(1).focus()
    await page.keyboard.press('ArrowDown')
    await page.locator(':focus[data-index="1"]').waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1 }).getByText(HOSTILE).waitFor()
  })

  it('shows no name or address to a read-only person, and offers no search for them', async () => {
    const page = await open(list(), 'read-only2@x.io')
    await page.getByText('4 contacts').waitFor()
    expect(await page.getByRole('grid').innerText()).not.toContain('Ann')
    expect(await page.getByRole('searchbox', { name: /^Search name/ }).count()).toBe(0)
  })
})

describe('a contact', () => {
  it('shows who it is and what happened; what callers sent is text', async () => {
    const page = await openContact('eve')
    await page.getByRole('region', { name: 'Timeline' }).getByText(HOSTILE).first().waitFor()
    await page.getByRole('region', { name: 'Custom fields' }).getByText(HOSTILE).waitFor()
    expect(await page.locator('img[src=x]').count()).toBe(0)
  })

  it('is edited; what the server refuses stands at its field', async () => {
    const page = await openContact('bob')
    await page.getByRole('button', { name: 'Edit' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('City').fill('x'.repeat(1000))
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.locator('[aria-invalid=true]').waitFor()
    await dialog.getByLabel('Country').fill('FR')
    await dialog.getByLabel('City').fill('Lyon')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('region', { name: 'Profile' }).getByText('Lyon').waitFor()
  })

  it('has an address made primary and one removed, after a question', async () => {
    const ids = { platformCustomerId: 'two-addresses' }
    for (const email of ['first@x.io', 'second@x.io'])
      await send('POST', '/api/sdk/identify', { identity: { ...ids, email } })
    const [row] = await dashboard.service.sql<{ id: string }[]>`
      select contact_id as id from identities where business_id = ${business.businessId} and value = 'first@x.io'`
    const path = `/dashboard/b/${business.businessId}/contacts/${row!.id}`
    const page = await open(path)
    const emails = async () => {
      const rows = await dashboard.service.sql<{ value: string }[]>`
        select value from identities where contact_id = ${row!.id} and kind = 'email' order by is_primary desc, position`
      return rows.map(({ value }) => value)
    }
    expect(await emails()).toEqual(['second@x.io', 'first@x.io'])
    await page.getByRole('button', { name: 'Make primary: first@x.io' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Make primary' }).click()
    await page.getByText('The address is primary.').waitFor()
    expect(await emails()).toEqual(['first@x.io', 'second@x.io'])
    await page.getByRole('button', { name: 'Remove: second@x.io' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByText('The address was removed.').waitFor()
    await page.getByText('second@x.io').waitFor({ state: 'detached' })
    expect(await emails()).toEqual(['first@x.io'])
  })

  it('is edited by keyboard alone', async () => {
    const page = await openContact('bob')
    await enter(page, page.getByRole('button', { name: 'Edit' }))
    await typeInto(page, page.getByRole('dialog').getByLabel('City'), 'Arles')
    await page.keyboard.press('Enter')
    await page.getByRole('region', { name: 'Profile' }).getByText('Arles').waitFor()
  })

  it('shows events of one kind, chosen in the list and kept in the address', async () => {
    const page = await openContact('ann')
    const timeline = page.getByRole('region', { name: 'Timeline' })
    await timeline.getByText('purchase', { exact: true }).waitFor()
    await timeline.getByLabel('Kind of event').selectOption('Refunds')
    await timeline.getByText('No events of this kind.').waitFor()
    await page.waitForURL(/type=refund/)
    await page.reload()
    await timeline.getByText('No events of this kind.').waitFor()
    await timeline.getByLabel('Kind of event').selectOption('Purchases')
    await timeline.getByText('purchase', { exact: true }).waitFor()
  })

  it('shows its stages, its campaigns, its web visits and what it was merged with', async () => {
    await fillHistory('cat@x.io')
    const page = await openContact('cat')
    const region = (name: string) => page.getByRole('region', { name })
    await region('Stages').getByText('checkout_started').waitFor()
    expect(await region('Stages').getByRole('listitem').allInnerTexts()).toEqual([
      expect.stringMatching(/^Awareness/),
      expect.stringMatching(/^Decision checkout_started/),
    ])
    await region('Campaigns')
      .getByRole('listitem')
      .filter({ hasText: /^Active Welcome <b>back<\/b>/ })
      .waitFor()
    await region('Web visits').getByText('https://shop.example/<b>first</b>').click()
    await region('Web visits').getByText('Last page: https://shop.example/last').waitFor()
    await region('Web visits').getByText('2 pages').waitFor()
    await region('Merges')
      .getByText(/Two contacts became one/)
      .waitFor()
  })

  it('has its consent changed', async () => {
    const page = await openContact('bob')
    const email = page.getByRole('region', { name: 'Consent' }).getByLabel('Email')
    const before = await email.isChecked()
    await email.click()
    await page.getByText('Choice recorded.').waitFor()
    await page.reload()
    await email.waitFor()
    expect(await email.isChecked()).toBe(!before)
    await page.getByText('History').click()
    await page.getByRole('region', { name: 'Consent' }).getByText('dashboard').first().waitFor()
    expect(await page.getByText(`Email: opted ${before ? 'out' : 'in'}`).count()).toBe(1)
  })

  it('is erased only by an owner who types the word', async () => {
    const marketer = await openContact('gone', 'marketer2@x.io')
    await marketer.getByRole('button', { name: 'Edit' }).waitFor()
    expect(await marketer.getByRole('button', { name: 'Erase' }).count()).toBe(0)
    const page = await openContact('gone')
    await page.getByRole('button', { name: 'Erase' }).click()
    const dialog = page.getByRole('dialog')
    expect(await dialog.getByRole('button', { name: 'Erase' }).isDisabled()).toBe(true)
    await dialog.getByRole('textbox').fill('erase')
    await dialog.getByRole('button', { name: 'Erase' }).click()
    await page.getByText('5 contacts').waitFor()
  })

  it('is erased by keyboard alone; a wrong word erases nobody', async () => {
    await track('late@x.io', { event: 'signup' }, 'Late Comer')
    const page = await openContact('late')
    await enter(page, page.getByRole('button', { name: 'Erase' }))
    const dialog = page.getByRole('dialog')
    await dialog.waitFor()
    await page.keyboard.type('eras')
    await page.keyboard.press('Enter')
    expect(await dialog.getByRole('button', { name: 'Erase' }).isDisabled()).toBe(true)
    await page.keyboard.type('e')
    await tabTo(page, dialog.getByRole('button', { name: 'Erase' }))
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Contacts', exact: true }).waitFor()
    await rows(page).filter({ hasText: 'Ann Archer' }).waitFor()
    expect(await rows(page).filter({ hasText: 'Late Comer' }).count()).toBe(0)
  })
})

/** A contact in a campaign, merged from two, whose browser viewed two pages. */
async function fillHistory(email: string): Promise<void> {
  const { clickhouse, shipped } = dashboard.service
  const { businessId } = business
  const campaign = { name: 'Welcome <b>back</b>', trigger: { event: 'called' } }
  const { data } = await send('POST', '/api/campaigns', campaign)
  await send('POST', `/api/campaigns/${data.campaign?.campaignId}/publish`)
  const visitorId = 'c'.repeat(32)
  const phone = '+972541234567'
  await send('POST', '/api/sdk/track', { identity: { phone }, event: 'page_view' })
  await send('POST', '/api/sdk/track', { identity: { email }, event: 'called' })
  await send('POST', '/api/sdk/track', { identity: { email }, event: 'checkout_started' })
  await send('POST', '/api/sdk/identify', { identity: { email, phone }, visitorId })
  const hit = { business_id: businessId, visitor_id: visitorId, kind: 'page_view', referrer: '', active_ms: 0 }
  const at = (occurred_ms: number) => ({ occurred_ms, received_ms: occurred_ms })
  const values = [
    { ...hit, ...at(Date.now() - 60_000), hit_id: 'h1', page_id: 'p1', url: 'https://shop.example/<b>first</b>' },
    { ...hit, ...at(Date.now() - 30_000), hit_id: 'h2', page_id: 'p2', url: 'https://shop.example/last' },
  ]
  await clickhouse.insert({ table: 'web_events', values, format: 'JSONEachRow' })
  await shipped()
}

async function openContact(name: string, email?: string): Promise<Page> {
  const page = await open(list(`?query=${name}%40x.io`), email)
  await rows(page).nth(1).getByRole('link').click()
  await page.getByRole('region', { name: 'Timeline' }).waitFor()
  return page
}
