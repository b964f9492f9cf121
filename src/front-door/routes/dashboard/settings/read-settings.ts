/**
 * Reads settings of a business in a request by the rules of the operators' commands, and reports each fault at its
 * field.
 */
import type { BusinessSettings } from '../../../../businesses/businesses.ts'
import {
  SettingError,
  readBots,
  readCountry,
  readCurrency,
  readName,
  readOrigins,
  readPageIdentify,
  readRateLimit,
  readTimezone,
} from '../../../../businesses/settings.ts'
import { moveFault } from '../../../../rules/faults.ts'
import type { Issue } from '../../../../errors.ts'
import { invalidRequest } from '../../../http/check-body.ts'

export interface SentSettings {
  name?: string
  currency?: string
  /** Empty: none. */
  country?: string
  timezone?: string
  rateLimit?: number
  pageIdentify?: string
  bots?: string
  origins?: string[]
}

/** Throws RequestError `invalid_request` with all faults. */
export function readSettings(sent: SentSettings): BusinessSettings {
  const issues: Issue[] = []
  const read = <Sent, Value>(path: string, given: Sent | undefined, reader: (given: Sent) => Value) => {
    if (given === undefined) return undefined
    try {
      return reader(given)
    } catch (error) {
      if (!(error instanceof SettingError)) throw error
      issues.push(moveFault(error.fault, path))
      return undefined
    }
  }
  const settings = {
    name: read('name', sent.name, readName),
    currency: read('currency', sent.currency, readCurrency),
    country: read('country', sent.country, (text) => (text === '' ? null : readCountry(text))),
    timezone: read('timezone', sent.timezone, readTimezone),
    rateLimit: read('rateLimit', sent.rateLimit, (limit) => readRateLimit(String(limit))),
    pageIdentify: read('pageIdentify', sent.pageIdentify, readPageIdentify),
    bots: read('bots', sent.bots, readBots),
    origins: read('origins', sent.origins, readOrigins),
  }
  if (issues.length > 0) throw invalidRequest(issues)
  return withoutUndefined(settings)
}

type Present<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> }

const withoutUndefined = <T extends object>(settings: T): Present<T> =>
  Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as Present<T>
