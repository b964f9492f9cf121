import { warn } from './warn.ts'

const MOST_BYTES = 32_768

/**
 * Returns a copy of the current value. Undefined, with a warning on the console, when it is not a JSON object or is too
 * large.
 */
export function copyJson(value: unknown, name: string): Record<string, unknown> | undefined {
  if (value == null) return undefined
  try {
    const json = JSON.stringify(value)
    if (json.startsWith('{') && new Blob([json]).size <= MOST_BYTES) return JSON.parse(json) as Record<string, unknown>
  } catch {
    // Reported below.
  }
  warn(`${name} left out: it has to be an object of JSON, of at most ${MOST_BYTES} bytes`)
  return undefined
}
