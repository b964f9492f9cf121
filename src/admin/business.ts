/** `admin business …` */
import {
  type BusinessSettings,
  createBusiness,
  hasBusiness,
  listBusinesses,
  removeBusiness,
  updateBusiness,
} from '../businesses/businesses.ts'
import {
  readActive,
  readBots,
  readCountry,
  readCurrency,
  readName,
  readOrigins,
  readPageIdentify,
  readRateLimit,
  readTimezone,
} from '../businesses/settings.ts'
import type { Sql } from '../stores/postgres.ts'
import { checkId, checkSetting } from './check-option.ts'
import { type Command, CommandError, type Option, UsageError, type Words, showDefaults } from './command.ts'
import { withPostgres } from './open-postgres.ts'
import { table } from './show-help.ts'

/** Throws CommandError when there is no such business. */
export async function requireBusiness(sql: Sql, id: string): Promise<void> {
  if (!(await hasBusiness(sql, id))) throw noBusiness(id)
}

const noBusiness = (id: string) => new CommandError('business_not_found', `There is no business ${id}`)

export const isNoBusiness = (error: unknown): boolean =>
  error instanceof CommandError && error.code === 'business_not_found'

const SETTINGS: Record<string, Option> = {
  'rate-limit': { value: 'N', help: 'Requests a minute' },
  currency: { value: 'CODE', help: 'Currency of amounts sent without one' },
  country: { value: 'CODE', help: 'Two-letter country in which national phone numbers are read' },
  timezone: { value: 'ZONE', help: 'IANA time zone' },
  origin: { value: 'ORIGIN', help: 'Browser origin that may call; repeat it for more, or "any"', repeated: true },
  'page-identify': {
    value: 'open|confirmed',
    help: "Whether a page's identify holds at once, or waits for a secret key where servers know the person",
  },
  bots: { value: 'ignore|allow', help: 'Whether events of bots and headless browsers are recorded' },
}
const DEFAULTS = {
  'rate-limit': '120',
  currency: 'USD',
  timezone: 'UTC',
  origin: 'any',
  'page-identify': 'open',
  bots: 'ignore',
}

function readSettings(words: Words): BusinessSettings {
  const given = <Value>(option: string, read: (text: string) => Value): Value | undefined => {
    const text = words.text(option)
    return text === undefined ? undefined : checkSetting(`--${option}`, text, read)
  }
  const origins = words.texts('origin')
  const settings = {
    name: given('name', readName),
    active: given('active', readActive),
    rateLimit: given('rate-limit', readRateLimit),
    currency: given('currency', readCurrency),
    country: given('country', readCountry),
    timezone: given('timezone', readTimezone),
    origins: origins.length === 0 ? undefined : checkSetting('--origin', origins, readOrigins),
    pageIdentify: given('page-identify', readPageIdentify),
    bots: given('bots', readBots),
  }
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
}

const create: Command = {
  name: 'business create',
  summary: 'Make a business',
  options: { name: { value: 'NAME', help: 'What people call it' }, ...showDefaults(SETTINGS, DEFAULTS) },
  required: ['name'],
  async run(config, words) {
    const settings = { ...readSettings(words), name: checkSetting('--name', words.text('name') ?? '', readName) }
    const businessId = await withPostgres(config, (sql) => createBusiness(sql, settings))
    return { json: { businessId }, text: `Business ${settings.name}: ${businessId}` }
  },
}

const update: Command = {
  name: 'business update',
  summary: 'Change the settings of a business; they hold everywhere within a second',
  positionals: ['ID'],
  options: {
    name: { value: 'NAME', help: 'What people call it' },
    active: { value: 'true|false', help: 'Whether its calls are accepted' },
    ...SETTINGS,
  },
  async run(config, words) {
    const businessId = checkId('ID', words.positional(0))
    const settings = readSettings(words)
    if (Object.keys(settings).length === 0) throw new UsageError('Nothing to change: give at least one option')
    const isChanged = await withPostgres(config, (sql) => updateBusiness(sql, businessId, settings))
    if (!isChanged) throw noBusiness(businessId)
    return { json: { businessId }, text: `Business ${businessId} is changed` }
  },
}

const remove: Command = {
  name: 'business remove',
  summary: 'End a business for good: within a second its keys answer 404; what it recorded stays',
  positionals: ['ID'],
  options: { yes: { help: 'Yes, it cannot be undone' } },
  async run(config, words) {
    const businessId = checkId('ID', words.positional(0))
    if (!words.flag('yes')) throw new UsageError('A removed business does not come back: add --yes')
    const isRemoved = await withPostgres(config, (sql) => removeBusiness(sql, businessId))
    if (!isRemoved) throw noBusiness(businessId)
    return { json: { businessId, removed: true }, text: `Business ${businessId} is removed` }
  },
}

const HEADS = ['BUSINESS', 'STATE', 'RATE LIMIT', 'CURRENCY', 'COUNTRY', 'TIME ZONE', 'PAGES', 'BOTS', 'NAME']

const list: Command = {
  name: 'business list',
  summary: 'Show every business',
  async run(config) {
    const businesses = (await withPostgres(config, listBusinesses)).map((one) => ({
      ...one,
      createdAt: one.createdAt.toISOString(),
    }))
    const lines = businesses.map((one) => [
      one.businessId,
      one.active ? 'active' : 'inactive',
      `${one.rateLimit}/min`,
      one.currency,
      one.country ?? '-',
      one.timezone,
      one.pageIdentify,
      one.bots,
      one.name,
    ])
    return { json: { businesses }, text: lines.length ? table([HEADS, ...lines]) : 'There is no business yet' }
  },
}

export const BUSINESS_COMMANDS: Command[] = [create, update, remove, list]
