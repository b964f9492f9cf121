/** Reads and checks the options and the environment once. */
import type { SluiceOptions } from './types.ts'

const NUMBERS = {
  maxQueue: 10_000,
  maxQueueBytes: 32 * 1024 * 1024,
  concurrency: 8,
  timeoutMs: 15_000,
  maxTries: 10,
  maxAgeMs: 600_000,
  minRetryMs: 500,
  maxRetryMs: 30_000,
}

export interface Service {
  /** Without a trailing slash. */
  url: string
  apiKey: string
  fetch: NonNullable<SluiceOptions['fetch']>
}
export type Settings = Service & Readonly<Record<keyof typeof NUMBERS, number>>

/** Throws TypeError, because an invalid option is an error in the program. */
export function readOptions(options: SluiceOptions): Settings {
  return {
    ...readNumbers(NUMBERS, options),
    url: readUrl(options.baseUrl ?? readVariable('SLUICE_BASE_URL')),
    apiKey: readKey(options.apiKey ?? readVariable('SLUICE_API_KEY')),
    // Looked up on each call, so that a replaced global is used, too.
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
  }
}

/** Reads numbers of at least 1, or their defaults. Throws TypeError. */
export function readNumbers<Name extends string>(
  defaults: Record<Name, number>,
  given: Partial<Record<NoInfer<Name>, number | undefined>>,
): Record<Name, number> {
  const read = { ...defaults }
  for (const name of Object.keys(defaults) as Name[]) {
    read[name] = given[name] ?? defaults[name]
    if (!(read[name] >= 1)) throw new TypeError(`${name} must be a number from 1 up`)
  }
  return read
}

/** Ignores a value that is not a number: a call must neither throw nor wait forever. */
export const readDeadline = (given: unknown, usual: number): number =>
  typeof given === 'number' && given >= -Infinity ? given : usual

function readKey(key = ''): string {
  if (/^[\x21-\x7e]+$/.test(key)) return key
  throw new TypeError(`apiKey (or SLUICE_API_KEY) ${key ? 'must be a secret key' : 'is missing'}`)
}

function readUrl(url = ''): string {
  if (/^https?:\/\/[^\s?#]+$/.test(url)) return url.replace(/\/+$/, '')
  throw new TypeError('baseUrl (or SLUICE_BASE_URL) must be such as https://sluice.example.com')
}

/** Some runtimes have no environment, and some do not allow reading it. */
function readVariable(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } }
  try {
    return process?.env?.[name]
  } catch {
    return undefined
  }
}
