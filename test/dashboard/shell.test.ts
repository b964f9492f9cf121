// @pages
/** Signing in, the account and the frame of all pages, in a real Chromium: by mouse, and by keyboard alone. */
import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createLink } from '../../src/accounts/links.ts'
import { totpCode } from '../../src/accounts/totp.ts'
import { safeReturnPath } from '../../src/dashboard/src/session/return-path.ts'
import { createBusiness } from '../support/stack.ts'
import { type Dashboard, openDashboard, openPalette, settle } from './open-dashboard.ts'
import { addUser, inviteTo, PASSWORD } from './session-client.ts'

let dashboard: Dashboard
beforeAll(async () => {
  dashboard = await openDashboard()
})
afterAll(() => dashboard.close())
afterEach(() => {
  if (dashboard.complaints.length > 0) throw new Error(dashboard.complaints.splice(0).join('\n'))
})

const pathOf = (page: Page) => page.url().slice(dashboard.service.url.length)
/** The value of the CSS variable `--canvas`. */
const DARK = 'rgb(15, 16, 18)'
const PALETTE = { name: 'Go to a page, or do something' }
const heading = (page: Page) => page.getByRole('heading', { level: 1 })
async function freshUser(): Promise<string> {
  const email = `${randomUUID()}@x.io`
  await addUser(dashboard.service.sql, email, { businessId: dashboard.businessId, role: 'marketer' })
  return email
}

describe('signing in', () => {
  it('by mouse, and back to where the person wanted to go', async () => {
    const page = await dashboard.visit('/dashboard/account?x=1', { email: null })
    await heading(page).getByText('Sign in').waitFor()
    await page.getByLabel('Email address').fill('owner@x.io')
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await heading(page).getByText('Your account').waitFor()
    expect(pathOf(page)).toMatch(/^\/dashboard\/account/)
    expect((await page.context().cookies()).find(({ name }) => name === 'sluice')).toMatchObject({
      httpOnly: true,
      sameSite: 'Lax',
    })
  })

  it('by keyboard alone; a wrong password says so', async () => {
    const page = await dashboard.visit('/dashboard/sign-in', { email: null })
    await settle(page)
    await page.keyboard.type('owner@x.io')
    await page.keyboard.press('Tab')
    await page.keyboard.type('not the password')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('The email address or the password is wrong.').waitFor()
    await page.getByLabel('Password').focus()
    await page.keyboard.press('Control+a')
    await page.keyboard.type(PASSWORD)
    await page.keyboard.press('Enter')
    await heading(page).getByText('Home').waitFor()
  })

  it('leads to no other site', async () => {
    const bad = ['//evil.example', 'https://evil.example/dashboard', '/\\evil.example', 'javascript:alert(1)']
    for (const to of bad) {
      const page = await dashboard.visit(`/dashboard/sign-in?to=${encodeURIComponent(JSON.stringify(to))}`)
      await heading(page).getByText('Home').waitFor()
      expect(pathOf(page)).toBe(`/dashboard/b/${dashboard.businessId}`)
    }
  })

  it.each([
    ['/dashboard/b/1/contacts?q=a#b', '/dashboard/b/1/contacts?q=a#b'],
    ['/dashboard', '/dashboard'],
    ['/dashboard/link', '/dashboard/link'],
    ['/dashboard/../api', '/dashboard'],
    ['/dashboard/..//evil.example', '/dashboard'],
    ['/dashboardx', '/dashboard'],
    ['//evil.example/dashboard', '/dashboard'],
    ['\\\\evil.example/dashboard', '/dashboard'],
    ['/\t/evil.example/dashboard', '/dashboard'],
    ['https://own.example/dashboard/account', '/dashboard'],
    ['https://evil.example/dashboard', '/dashboard'],
    ['javascript:alert(1)//dashboard', '/dashboard'],
    ['/dashboard/sign-in?to=/dashboard/sign-in', '/dashboard'],
    ['/dashboard/api/me', '/dashboard'],
    ['', '/dashboard'],
    [['/dashboard/account'], '/dashboard'],
    [undefined, '/dashboard'],
  ])('the path %j is taken as %s', (wanted, taken) => {
    expect(safeReturnPath(wanted, 'https://own.example')).toBe(taken)
  })

  it('leads back when the session has ended elsewhere', async () => {
    const email = await freshUser()
    const page = await dashboard.visit('/dashboard/account', { email })
    await settle(page)
    await dashboard.service.sql`delete from sessions where user_id = (select id from users where email = ${email})`
    await page.getByLabel('Name').fill('New')
    await page.getByRole('button', { name: 'Save' }).click()
    await heading(page).getByText('Sign in').waitFor()
    expect(pathOf(page)).toContain('/dashboard/sign-in?to=')
  })
})

describe('links', () => {
  it('sign in without a password, once, and leave the address bar at once', async () => {
    const email = await freshUser()
    const token = await createLink(dashboard.service.sql, 'sign-in', email)
    const page = await dashboard.visit(`/dashboard/link#${token}`, { email: null })
    await page.getByText(`This link signs you in as ${email}.`).waitFor()
    expect(pathOf(page)).toBe('/dashboard/link')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await heading(page).getByText('Home').waitFor()
    const again = await dashboard.visit(`/dashboard/link#${token}`, { email: null })
    await again.getByRole('alert').getByText('This link was used already, or it has expired.').waitFor()
  })

  it('reset a password; the server’s words stand at its field', async () => {
    const email = await freshUser()
    const token = await createLink(dashboard.service.sql, 'reset', email)
    const page = await dashboard.visit(`/dashboard/link#${token}`, { email: null })
    await page.getByLabel('New password').fill('short')
    await page.keyboard.press('Enter')
    await page.getByText('Enter 10 to 200 characters.').waitFor()
    const field = page.getByLabel('New password')
    expect(await field.getAttribute('aria-invalid')).toBe('true')
    await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('password')
    await field.fill('another long password')
    await page.keyboard.press('Enter')
    await heading(page).getByText('Home').waitFor()
  })

  it('invite a new person, who chooses a name and a password', async () => {
    const { businessId, service } = dashboard
    const email = `${randomUUID()}@x.io`
    const by = { id: await addUser(service.sql, 'owner@x.io'), name: 'owner@x.io' }
    const token = await inviteTo(businessId, { sql: service.sql, by }, { email, role: 'analyst' })
    const page = await dashboard.visit(`/dashboard/link#${token}`, { email: null })
    await page.getByText('Corner Shop invites you. Your role: Analyst.').waitFor()
    await page.getByLabel('Your name').fill('Ada')
    await page.getByLabel('New password').fill('a long password')
    await page.getByRole('button', { name: 'Accept' }).click()
    await page.getByRole('button', { name: /^Ada/ }).waitFor()
  })

  it('invite a person with an account, who signs in first', async () => {
    const { service } = dashboard
    const { businessId } = await createBusiness(service.sql, { name: 'Second Shop' })
    const owner = await addUser(service.sql, 'owner@x.io', { businessId, role: 'owner' })
    const email = await freshUser()
    const by = { id: owner, name: 'owner@x.io' }
    const token = await inviteTo(businessId, { sql: service.sql, by }, { email, role: 'analyst' })
    const page = await dashboard.visit(`/dashboard/link#${token}`, { email: null })
    await page.getByRole('link', { name: 'Sign in' }).click()
    await page.getByLabel('Email address').fill(email)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Accept' }).click()
    await heading(page).getByText('Home').waitFor()
    await page.getByRole('button', { name: /^Business: / }).click()
    await page.getByRole('menuitemradio', { name: 'Second Shop' }).waitFor()
  })

  it('forgotten passwords: without mail the page says what to do instead', async () => {
    const page = await dashboard.visit('/dashboard/sign-in', { email: null })
    await page.getByRole('link', { name: 'Forgot your password?' }).click()
    await page.getByText('This installation cannot send mail.').waitFor()
  })
})

describe('the account', () => {
  it('takes a name', async () => {
    const page = await dashboard.visit('/dashboard/account', { email: await freshUser() })
    await page.getByLabel('Name').fill('<img src=x onerror=alert(1)>')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    await page.reload()
    expect(await page.getByLabel('Name').inputValue()).toBe('<img src=x onerror=alert(1)>')
    expect(await page.locator('img[src=x]').count()).toBe(0)
  })

  it('takes a new password, and ends other sessions one by one', async () => {
    const email = await freshUser()
    const other = await dashboard.visit('/dashboard/account', { email })
    await settle(other)
    const page = await dashboard.visit('/dashboard/account', { email })
    await page.getByLabel('Current password').fill('wrong password')
    await page.getByLabel('New password').fill('a whole new password')
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByText('This is not your password.').waitFor()
    await page.getByLabel('Current password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByText('Password changed.').waitFor()
    await other.reload()
    await heading(other).getByText('Sign in').waitFor()
    await dashboard.visit('/dashboard/account', { email })
    await page.reload()
    await page.getByRole('button', { name: /^End: / }).click()
    await page.getByText('Session ended.').waitFor()
    await expect.poll(() => page.getByRole('button', { name: /^End: / }).count()).toBe(0)
  })

  it('takes a second step, which then is asked for, after a confirmation', async () => {
    const email = await freshUser()
    const page = await dashboard.visit('/dashboard/account', { email })
    await settle(page)
    // The last sign-in was long ago, so the page first asks the person to sign in again.
    await dashboard.service.sql`update sessions set confirmed_at = now() - interval '1 hour'
      where user_id = (select id from users where email = ${email})`
    await page.getByRole('button', { name: 'Set up' }).click()
    const confirm = page.getByRole('dialog', { name: 'Confirm that it is you' })
    await confirm.getByLabel('Password').fill('not the password')
    await page.keyboard.press('Enter')
    await confirm.getByRole('alert').getByText('The password is wrong.', { exact: true }).waitFor()
    await confirm.getByLabel('Password').fill(PASSWORD)
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Second step' })
    await dialog.getByRole('img', { name: /^QR code/ }).waitFor()
    const secret = (await dialog.locator('code').innerText()).replaceAll(' ', '')
    await dialog.getByLabel('Code from the app').fill(totpCode(secret, Math.floor(Date.now() / 30_000)))
    await page.keyboard.press('Enter')
    const codes = page.getByRole('dialog', { name: 'Recovery codes' })
    const recovery = await codes.getByRole('listitem').first().innerText()
    await codes.getByRole('button', { name: 'I have stored them' }).click()
    await page.getByRole('button', { name: 'Turn off' }).waitFor()

    const second = await dashboard.visit('/dashboard/sign-in', { email: null })
    await second.getByLabel('Email address').fill(email)
    await second.getByLabel('Password').fill(PASSWORD)
    await second.keyboard.press('Enter')
    await second.getByLabel('Code').fill('000000')
    await second.keyboard.press('Enter')
    await second.getByRole('alert').getByText('The code is wrong, or it was used already.').waitFor()
    await second.getByLabel('Code').fill(recovery)
    await second.keyboard.press('Enter')
    await heading(second).getByText('Home').waitFor()
  })
})

describe('the shell', () => {
  it('asks once for who is signed in, before its scripts have run', async () => {
    const page = await dashboard.visit('/dashboard/account')
    await settle(page)
    const asked = `performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('/api/me')).map(({ initiatorType }) => initiatorType)`
    expect(await page.evaluate(asked)).toEqual(['link'])
  })

  it('opens with the language of the browser, from right to left where it is written so', async () => {
    const page = await dashboard.visit('/dashboard/account', { language: 'he' })
    await heading(page).getByText('החשבון שלך').waitFor()
    expect(await page.evaluate('document.documentElement.dir')).toBe('rtl')
    await page.locator('select[name=language]').selectOption('de')
    await heading(page).getByText('Ihr Konto').waitFor()
    expect(await page.evaluate('document.documentElement.dir')).toBe('ltr')
  })

  it('keeps the theme over a reload, from the first paint on', async () => {
    const page = await dashboard.visit('/dashboard/account')
    await page.locator('select[name=theme]').selectOption('dark')
    const background = 'getComputedStyle(document.documentElement).backgroundColor'
    await expect.poll(() => page.evaluate(background)).toBe(DARK)
    await page.reload({ waitUntil: 'commit' })
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark')
    await settle(page)
    expect(await page.evaluate(background)).toBe(DARK)
  })

  it('goes by keyboard: skip link, palette, list of shortcuts, and single letters that can be off', async () => {
    const page = await dashboard.visit('/dashboard/account')
    await settle(page)
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content')
    await openPalette(page)
    await page.keyboard.type('theme dark')
    await page.keyboard.press('Enter')
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark')
    await expect.poll(() => page.getByRole('combobox', PALETTE).count()).toBe(0)
    await page.keyboard.press('?')
    const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await dialog.getByText('Go to Your account').waitFor()
    await dialog.getByLabel('Single-letter shortcuts').uncheck()
    await page.keyboard.press('Escape')
    await expect.poll(() => dialog.count()).toBe(0)
    await page.keyboard.press('?')
    await page.waitForTimeout(300)
    expect(await dialog.count()).toBe(0)
    await openPalette(page)
    await page.keyboard.press('Escape')
    await expect.poll(() => page.getByRole('combobox', PALETTE).count()).toBe(0)
  })

  it('a menu has the focus as it opens: the next key is for it', async () => {
    const page = await dashboard.visit('/dashboard/account')
    await page.getByRole('button', { name: /^owner@x.io/ }).waitFor()
    const focused = `document.querySelector('[aria-haspopup=menu][aria-label^=owner]').click(), document.activeElement.role`
    expect(await page.evaluate(focused)).toBe('menuitem')
  })

  it('has a menu of the person, by arrow keys', async () => {
    const page = await dashboard.visit('/dashboard/account')
    await page.getByRole('button', { name: /^owner@x.io/ }).focus()
    await page.keyboard.press('Enter')
    await page.locator('[role=menuitem]:focus').first().waitFor()
    await page.keyboard.press('ArrowUp')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Sign out')
    await page.keyboard.press('Enter')
    await heading(page).getByText('Sign in').waitFor()
    await page.goto(`${dashboard.service.url}/dashboard/account`)
    await heading(page).getByText('Sign in').waitFor()
  })

  it('has a drawer on narrow screens', async () => {
    const page = await dashboard.visit('/dashboard/account', { width: 360 })
    await page.getByRole('button', { name: 'Open menu' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Search' }).waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
  })
})

describe('an address without a page', () => {
  it.each(['/b/BUSINESS/analytics/overview', '/b/BUSINESS/nothing', '/nothing', '/nothing/at/all'])(
    'says so, with a link home: %s',
    async (path) => {
      const page = await dashboard.visit('/dashboard/account')
      const answer = await page.goto(
        `${dashboard.service.url}/dashboard${path.replace('BUSINESS', dashboard.businessId)}`,
      )
      expect([answer?.status(), answer?.headers()['content-type']]).toEqual([404, 'text/html; charset=utf-8'])
      await heading(page).getByText('Page not found').waitFor()
      await page.getByRole('main').getByRole('link', { name: 'Go to the first page' }).click()
      await heading(page).getByText('Home').waitFor()
    },
  )

  it('is JSON for programs, calls and missing files', async () => {
    const ask = async (path: string, accept: string, method = 'GET') => {
      const answer = await fetch(dashboard.service.url + path, { method, headers: { Accept: accept } })
      return [answer.status, answer.headers.get('content-type')?.split(';')[0]]
    }
    const html = 'text/html,application/xhtml+xml,*/*;q=0.8'
    const json = [404, 'application/json']
    expect(await ask('/dashboard/nothing', '*/*')).toEqual(json)
    expect(await ask('/dashboard/nothing', html, 'POST')).toEqual(json)
    expect(await ask('/dashboard/api/nothing', html)).toEqual(json)
    expect(await ask('/dashboard/assets/nothing.js', html)).toEqual(json)
    expect(await ask('/nothing', html)).toEqual(json)
    expect(await ask('/dashboard/nothing', html)).toEqual([404, 'text/html'])
  })
})
