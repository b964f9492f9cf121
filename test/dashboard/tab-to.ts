/** Moves through a page like a person without a mouse. */
import type { Locator, Page } from 'playwright-core'

const MOST_PRESSES = 80

/** Presses Tab until the element, or one of several, has the focus. */
export async function tabTo(page: Page, element: Locator): Promise<void> {
  await element.first().waitFor()
  for (let pressed = 0; pressed < MOST_PRESSES; pressed += 1) {
    if ((await page.locator(':focus').and(element).count()) > 0) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`Tab does not lead to ${String(element)}`)
}

/** Tabs to the element, and presses Enter. */
export async function enter(page: Page, element: Locator): Promise<void> {
  await tabTo(page, element)
  await page.keyboard.press('Enter')
}

/** Tabs to a field, and replaces its value by typing. In a list, this chooses the option that begins with the text. */
export async function typeInto(page: Page, field: Locator, text: string): Promise<void> {
  await tabTo(page, field)
  await page.keyboard.press('Control+a')
  await page.keyboard.type(text)
}
