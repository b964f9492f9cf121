/**
 * Choices that a person has made for this browser. The front door reads the cookies, so that the first paint is right.
 */
import { createStore } from './store.ts'
import type { Language } from './texts/index.ts'

export const THEMES = ['system', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

const YEAR_SECONDS = 31_536_000

const shown = document.documentElement.dataset['theme']
export const theme = createStore<Theme>(THEMES.find((one) => one === shown) ?? 'system')

export function setTheme(chosen: Theme): void {
  keep('sluice_theme', chosen)
  document.documentElement.dataset['theme'] = chosen
  theme.set(chosen)
}

/** Reloads the page, because all of its texts change. */
export function setLanguage(chosen: Language): void {
  keep('sluice_language', chosen)
  location.reload()
}

function keep(name: string, value: string): void {
  document.cookie = `${name}=${value}; Path=/; Max-Age=${YEAR_SECONDS}; SameSite=Lax`
}

const OFF = 'sluice.shortcuts'

/** Single-letter shortcuts disturb people who use speech input, so they can be switched off (WCAG 2.1.4). */
export const shortcutsOn = createStore(localStorage.getItem(OFF) !== 'off')

export function setShortcutsOn(on: boolean): void {
  localStorage.setItem(OFF, on ? 'on' : 'off')
  shortcutsOn.set(on)
}
