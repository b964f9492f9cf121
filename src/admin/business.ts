/** `admin business …` */
import { commandActor } from '../audit/command-actor.ts'
import {
  type BusinessSettings,
  createBusiness,
  hasBusiness,
  listBusinesses,
  removeBusiness,
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
import { changeBusiness } from '../segments/change-business.ts'
import type { Queryable } from '../stores/postgres.ts'
import { checkId, readOption } from './read-option.ts'
import { type Command, CommandError, type Option, UsageError, type CommandArguments, showDefaults } from './command.ts'
import { withPostgres } from './open-postgres.ts'
import { formatTable } from './format-help.ts'

/** Throws CommandError when there is no such business. */
export async function requireBusiness(sql: Queryable, id: string): Promise<void> {
  if (!(await hasBusiness(sql, id))) throw businessNotFound(id)
}

export const businessNotFound = (id: string) =>
  new CommandError('business_not_found', `There is no business ${id}. To see all: admin business list`)

export const isBusinessNotFound = (error: unknown): boolean =>
  error instanceof CommandError && error.code === 'business_not_found'

const SETTINGS: Record<string, Option> = {
  'rate-limit': { value: 'N', help: 'Requests a minute' },
  currency: { value: 'CODE', help: 'Currency of amounts that are sent without one' },
  country: { value: 'CODE', help: 'Two-letter country of phone numbers that are sent without a country code' },
  timezone: { value: 'ZONE', help: 'IANA time zone' },
  origin: { value: 'ORIGIN', help: 'Browser origin that may send events, or "any"; repeat for more', repeated: true },
  'page-identify': {
    value: 'open|confirmed',
    help: 'Whether identify from a page takes effect at once, or waits for a secret key if a server has sent the person',
  },
  bots: { value: 'ignore|allow', help: 'Whether events from bots and headless browsers are recorded' },
}
const DEFAULTS = {
  'rate-limit': '120',
  currency: 'USD',
  timezone: 'UTC',
  origin: 'any',
  'page-identify': 'open',
  bots: 'ignore',
}

function readSettings(args: CommandArguments): BusinessSettings {
  const given = <Value>(option: string, read: (text: string) => Value): Value | undefined => {
    const text = args.text(option)
    return text === undefined ? undefined : readOption(`--${option}`, text, read)
  }
  const origins = args.texts('origin')
  const settings = {
    name: given('name', readName),
    active: given('active', readActive),
    rateLimit: given('rate-limit', readRateLimit),
    currency: given('currency', readCurrency),
    country: given('country', readCountry),
    timezone: given('timezone', readTimezone),
    origins: origins.length === 0 ? undefined : readOption('--origin', origins, readOrigins),
    pageIdentify: given('page-identify', readPageIdentify),
    bots: given('bots', readBots),
  }
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
}

const create: Command = {
  name: 'business create',
  summary: 'Create a business',
  options: { name: { value: 'NAME', help: 'Display name' }, ...showDefaults(SETTINGS, DEFAULTS) },
  required: ['name'],
  async run(config, args) {
    const settings = { ...readSettings(args), name: readOption('--name', args.text('name') ?? '', readName) }
    const actor = commandActor('admin business create')
    const businessId = await withPostgres(config, (sql) => createBusiness(sql, actor, settings))
    const next = `Next, create its secret key: admin key create --business ${businessId} --kind secret`
    return { json: { businessId }, text: `Business ${settings.name}: ${businessId}\n${next}` }
  },
}

const update: Command = {
  name: 'business update',
  summary: 'Change the settings of a business; they take effect within a second',
  positionals: ['ID'],
  options: {
    name: { value: 'NAME', help: 'Display name' },
    active: { value: 'true|false', help: 'Whether its requests are accepted' },
    ...SETTINGS,
  },
  async run(config, args) {
    const businessId = checkId('ID', args.positional(0))
    const settings = readSettings(args)
    if (Object.keys(settings).length === 0) throw new UsageError('Nothing to change. Give at least one option')
    const change = { businessId, actor: commandActor('admin business update') }
    const { kind } = await withPostgres(config, (sql) =>
      changeBusiness(sql, change, settings, { maySetRateLimit: true }),
    )
    if (kind === 'not_found') throw businessNotFound(businessId)
    return { json: { businessId }, text: `Business ${businessId} was changed` }
  },
}

const remove: Command = {
  name: 'business remove',
  summary: 'End a business permanently: within a second its keys get 404; its recorded data stays',
  positionals: ['ID'],
  options: { yes: { help: 'Confirm: this cannot be undone' } },
  async run(config, args) {
    const businessId = checkId('ID', args.positional(0))
    if (!args.flag('yes')) throw new UsageError('Removing a business cannot be undone. To confirm, add --yes')
    const isRemoved = await withPostgres(config, (sql) =>
      removeBusiness(sql, commandActor('admin business remove'), businessId),
    )
    if (!isRemoved) throw businessNotFound(businessId)
    return { json: { businessId, removed: true }, text: `Business ${businessId} was removed` }
  },
}

const HEADS = ['BUSINESS', 'STATE', 'RATE LIMIT', 'CURRENCY', 'COUNTRY', 'TIME ZONE', 'PAGES', 'BOTS', 'NAME']

const list: Command = {
  name: 'business list',
  summary: 'List all businesses',
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
    return { json: { businesses }, text: lines.length ? formatTable([HEADS, ...lines]) : 'There are no businesses yet' }
  },
}

export const BUSINESS_COMMANDS: Command[] = [create, update, remove, list]
