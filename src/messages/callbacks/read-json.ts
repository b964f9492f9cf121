/** Reads the JSON of callbacks, whose structure is not trusted. */

/** Undefined when it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Reads a value in nested objects. */
export function at(value: unknown, ...names: string[]): unknown {
  let found = value
  for (const name of names) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined
    found = (found as Record<string, unknown>)[name]
  }
  return found
}

export function textAt(value: unknown, ...names: string[]): string | null {
  const found = at(value, ...names)
  return typeof found === 'string' && found !== '' ? found : null
}

/** Empty when it is not a list. */
export function listAt(value: unknown, ...names: string[]): unknown[] {
  const found = at(value, ...names)
  return Array.isArray(found) ? found : []
}

/**
 * Returns the epoch milliseconds of a time such as 2014-08-01T13:28:10.2735393-04:00; `instead` when it is not a time.
 */
export function timeAt(text: string | null, instead: number): number {
  const at = text === null ? NaN : Date.parse(text)
  return Number.isNaN(at) ? instead : at
}
