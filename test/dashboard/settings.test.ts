// @pages
/** Keys, the business, people and the audit log in a real Chromium, by mouse and by keyboard alone. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Page } from 'playwright-core'
import { type TestBusiness, createBusiness } from '../support/stack.ts'
import { type Dashboard, endAnimations, findBarriers, openDashboard, settle } from './open-dashboard.ts'
import { addUser, inviteTo } from './session-client.ts'
import { tabTo } from './tab-to.ts'

const HOSTILE = '<img src=x onerror="document.title=1">'

let dashboard: Dashboard
let business: TestBusiness
let owner: string
beforeAll(async () => {
  dashboard = await openDashboard()
})
afterAll(() => dashboard.close())
let count = 0
beforeEach(async () => {
  count += 1
  owner = `keeper${count}@x.io`
  business = await createBusiness(dashboard.service.sql, { name: 'Bookshop' })
  await addUser(dashboard.service.sql, owner, { businessId: business.businessId, role: 'owner' })
})
afterEach(() => {
  if (dashboard.complaints.length > 0) throw new Error(dashboard.complaints.splice(0).join('\n'))
})

const open = (page: string, email = owner) =>
  dashboard.visit(`/dashboard/b/${business.businessId}/settings/${page}`, { email })
const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text })
const track = (key: string) =>
  fetch(`${dashboard.service.url}/api/sdk/track`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ event: 'signup', identity: { email: 'ann@x.io' } }),
  })
const readKey = async (page: Page) => (await page.getByRole('dialog').locator('pre').first().innerText()).trim()

describe('keys', () => {
  it('creates, rotates and revokes by mouse', async () => {
    const page = await open('keys')
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
    await page.getByText('Copy it now').waitFor()
    const old = await readKey(page)
    expect(await page.getByRole('dialog').locator('pre').nth(1).innerText()).toContain(`Bearer ${old}`)
    expect((await track(old)).status).toBe(200)
    await page.getByRole('button', { name: 'I have stored it' }).click()
    // The key is shown once: the list has only its end.
    expect(await page.content()).not.toContain(old)

    const end = old.slice(-4)
    await row(page, end)
      .getByRole('button', { name: /Actions for/ })
      .click()
    await page.getByRole('menuitem', { name: 'Rotate' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
    await page.getByText('Copy it now').waitFor()
    const next = await readKey(page)
    expect(next).not.toBe(old)
    await page.getByText(`…${end}`).last().waitFor()
    await page.getByRole('button', { name: 'I have stored it' }).click()
    expect([(await track(old)).status, (await track(next)).status]).toEqual([200, 200])

    await row(page, end)
      .getByRole('button', { name: /Actions for/ })
      .click()
    await page.getByRole('menuitem', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await row(page, end).getByText('Revoked').waitFor()
    await expect.poll(async () => (await track(old)).status).toBe(401)
    expect((await track(next)).status).toBe(200)
  })

  it('creates by keyboard alone', async () => {
    const page = await open('keys')
    await settle(page)
    await page.keyboard.press('g')
    await page.keyboard.press('k')
    await tabTo(page, page.getByRole('button', { name: /^Create key$/ }))
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await tabTo(page, page.getByRole('button', { name: /^Create key$/ }))
    await page.keyboard.press('Enter')
    await page.getByText('Copy it now').waitFor()
    expect(await readKey(page)).toMatch(/^pk_live_/)
    // It is shown only once. Chromium closes other dialogs on the second Escape, whatever the page says.
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await page.mouse.click(2, 2)
    expect(await readKey(page)).toMatch(/^pk_live_/)
    expect(await page.getByRole('dialog').getByRole('button', { name: 'Close' }).count()).toBe(0)
    await tabTo(page, page.getByRole('button', { name: 'I have stored it' }))
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  })

  it('offers no change to those who may not', async () => {
    await addUser(dashboard.service.sql, `reader${count}@x.io`, { businessId: business.businessId, role: 'read-only' })
    const page = await open('keys', `reader${count}@x.io`)
    await row(page, 'sk_live_').first().waitFor()
    expect(await page.getByRole('button', { name: /Create key|Actions for/ }).count()).toBe(0)
    expect(await page.getByRole('link', { name: 'Audit log' }).count()).toBe(0)
  })
})

describe('the business', () => {
  it('saves what was changed; a fault is at its field', async () => {
    const page = await open('business')
    const zone = page.getByLabel('Time zone')
    await page.getByLabel('Name').fill(HOSTILE)
    await zone.fill('Mars/Olympus')
    await page.getByRole('button', { name: 'Save' }).first().click()
    await page.getByText('Must be an IANA zone').waitFor()
    expect(await zone.getAttribute('aria-invalid')).toBe('true')
    await zone.fill('Europe/Paris')
    await page.getByLabel('Currency').fill('eur')
    await page.keyboard.press('Enter')
    await page.getByText('Saved.').waitFor()
    // The side navigation shows it as text, too.
    await page.getByText(HOSTILE).filter({ visible: true }).first().waitFor()
    expect(await page.locator('img').count()).toBe(0)
    const [stored] = await dashboard.service.sql`
      select name, currency, timezone from businesses where id = ${business.businessId}`
    expect(stored).toEqual({ name: HOSTILE, currency: 'EUR', timezone: 'Europe/Paris' })
  })

  it('tests an origin, by keyboard alone', async () => {
    const page = await open('business')
    await page.getByLabel('Accepted origins').fill('https://shop.example\nhttps://www.shop.example')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByText('Saved.').waitFor()
    await page.getByLabel('Test an origin').focus()
    await page.keyboard.type('http://shop.example')
    await page.keyboard.press('Enter')
    await page.getByText('It is not on the list.').waitFor()
    await page.getByText('Similar on the list: https://shop.example').waitFor()
    await page.keyboard.press('Control+a')
    await page.keyboard.type('https://shop.example')
    await page.keyboard.press('Enter')
    await page.getByText('It is on the list.').waitFor()
  })

  it('leaves the rate limit to operators', async () => {
    const page = await open('business')
    expect(await page.getByLabel('Requests per minute').getAttribute('readonly')).not.toBeNull()
    const theirs = await open('business', 'operator@x.io')
    await theirs.getByLabel('Requests per minute').fill('77')
    await theirs.getByRole('button', { name: 'Save' }).first().click()
    await theirs.getByText('Saved.').waitFor()
    const [stored] = await dashboard.service.sql`
      select rate_limit as limit from businesses where id = ${business.businessId}`
    expect(stored).toEqual({ limit: 77 })
  })

  it('shows a tag and code that name this business and this address', async () => {
    const page = await open('business')
    await page.locator('pre').first().waitFor()
    const shown = (await page.locator('pre').allInnerTexts()).join('\n')
    expect(shown).toContain(`src="${dashboard.service.url}/sluice.js" data-business="${business.businessId}"`)
    expect(shown).toContain(`baseUrl: '${dashboard.service.url}'`)
  })
})

describe('people', () => {
  it('says to an operator that a business has nobody yet', async () => {
    business = await createBusiness(dashboard.service.sql, { name: 'Empty shop' })
    const page = await open('people', 'operator@x.io')
    await page.getByRole('heading', { name: 'No people yet' }).waitFor()
    await page.getByText('Invite those who work with this business.').waitFor()
  })

  it('invites with a link, changes a role, and removes, by mouse', async () => {
    const member = `member${count}@x.io`
    await addUser(dashboard.service.sql, member, { businessId: business.businessId, role: 'analyst' })
    const page = await open('people')
    await page.getByRole('button', { name: 'Invite' }).click()
    await page.getByLabel('Email address').fill(`new${count}@x.io`)
    await page.getByLabel('Role').selectOption('analyst')
    await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click()
    const link = (await readKey(page)).trim()
    await page.getByRole('button', { name: 'Done' }).click()
    await row(page, `new${count}@x.io`).waitFor()
    const guest = await dashboard.visit(new URL(link).pathname + new URL(link).hash, { email: null })
    await guest.getByText('Bookshop').first().waitFor()

    await row(page, member).click()
    await page.getByLabel('Role').selectOption('marketer')
    await page.getByRole('button', { name: 'Save' }).click()
    await row(page, member).getByText('Marketer').waitFor()
    await row(page, member).getByRole('button', { name: 'Edit' }).click()
    await page.getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('dialog', { name: 'Remove this person?' }).getByRole('button', { name: 'Remove' }).click()
    await row(page, member).waitFor({ state: 'detached' })

    await row(page, `new${count}@x.io`)
      .getByRole('button', { name: /Actions for/ })
      .click()
    await page.getByRole('menuitem', { name: 'Revoke' }).click()
    await row(page, `new${count}@x.io`).waitFor({ state: 'detached' })
  })

  it('invites, sends again and revokes by keyboard alone', async () => {
    const guest = `guest${count}@x.io`
    const page = await open('people')
    await tabTo(page, page.getByRole('button', { name: /^Invite$/ }))
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.type(guest)
    await page.keyboard.press('Tab')
    await page.keyboard.type('Analyst')
    await tabTo(page, page.getByRole('button', { name: /^Invite$/ }))
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Person invited' }).waitFor()
    await page.keyboard.press('Escape')
    await row(page, guest).getByText('Analyst').waitFor()
    const menu = async (action: string) => {
      await tabTo(page, page.getByRole('button', { name: new RegExp(`^Actions for ${guest}$`) }))
      await page.keyboard.press('Enter')
      await page.locator('[role=menuitem]:focus').waitFor()
      const item = page.getByRole('menuitem', { name: action })
      for (let presses = 0; (await page.locator(':focus').and(item).count()) === 0; presses += 1) {
        if (presses > 3) throw new Error(`no arrow leads to ${action}`)
        await page.keyboard.press('ArrowDown')
      }
      await page.keyboard.press('Enter')
    }
    await menu('Send again')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await menu('Revoke')
    await row(page, guest).waitFor({ state: 'detached' })
  })

  it('leaves the menu of an invitation open that is sent again meanwhile, and then revokes it', async () => {
    const { sql } = dashboard.service
    const guest = `guest${count}@x.io`
    const id = await addUser(sql, owner)
    const invite = () =>
      inviteTo(business.businessId, { sql, by: { id, name: owner } }, { email: guest, role: 'analyst' })
    await invite()
    const page = await dashboard.visit('/dashboard/account', { email: owner, isChanged: true })
    await page.clock.install()
    await page.goto(`${dashboard.service.url}/dashboard/b/${business.businessId}/settings/people`)
    await tabTo(page, page.getByRole('button', { name: `Actions for ${guest}` }))
    await page.keyboard.press('Enter')
    await page.locator('[role=menuitem]:focus').waitFor()
    await invite()
    // The data is old, so that the page reads it again.
    await page.clock.fastForward(60_000)
    const read = page.waitForResponse((response) => response.url().endsWith('/people'))
    await page.evaluate(`window.dispatchEvent(new Event('visibilitychange'))`)
    await (await read).finished()
    await endAnimations(page)
    expect(await page.locator('[role=menuitem]:focus').innerText()).toBe('Send again')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await row(page, guest).waitFor({ state: 'detached' })
  })

  it('is not there for a person who sees no addresses', async () => {
    const reader = `reader${count}@x.io`
    await addUser(dashboard.service.sql, reader, { businessId: business.businessId, role: 'read-only' })
    const page = await open('people', reader)
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
    expect(await page.getByRole('link', { name: 'People' }).count()).toBe(0)
    expect(await page.locator('main').innerText()).not.toContain(owner)
  })

  it('keeps the last owner, and says why, by keyboard alone', async () => {
    const page = await open('people')
    await row(page, owner).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: owner }).waitFor()
    await page.keyboard.type('Marketer')
    await tabTo(page, page.getByRole('button', { name: /^Save$/ }))
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('A business needs an owner').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await page.keyboard.press('Escape')
    await row(page, owner).getByText('Owner').waitFor()
  })
})

it('lists each change with who made it; a hostile value is text', async () => {
  const page = await open('business')
  await page.getByLabel('Name').fill(HOSTILE)
  await page.getByRole('button', { name: 'Save' }).first().click()
  await page.getByText('Saved.').waitFor()
  await page.getByRole('link', { name: 'Audit log' }).click()
  await row(page, 'Settings changed').filter({ hasText: owner }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('dialog', { name: 'Settings changed' }).getByText('"name": ').waitFor()
  expect(await page.locator('img').count()).toBe(0)
  expect(await page.title()).toBe('Audit log · Sluice')
})
