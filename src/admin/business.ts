/** Businesses: whose data is kept apart, and what each has chosen. */
import { uuidv7 } from 'uuidv7'
import type { PageIdentify } from '../rules/state.ts'
import type { Business } from '../front-door/access/find-business.ts'
import type { Sql } from '../stores/postgres.ts'
import {
  checkActive,
  checkBots,
  checkCountry,
  checkCurrency,
  checkId,
  checkName,
  checkOrigins,
  checkPageIdentify,
  checkRateLimit,
  checkTimezone,
} from './check-settings.ts'
import { type Command, CommandError, type Option, UsageError, type Words, showDefaults } from './command.ts'
import { withPostgres } from './open-postgres.ts'
import { table } from './show-help.ts'

/** What is not given keeps its value, or gets the default of the schema. */
export interface BusinessSettings {
  name?: string
  active?: boolean
  rate_limit?: number
  currency?: string
  country?: string
  timezone?: string
  origins?: string[]
  page_identify?: PageIdentify
  bots?: Business['bots']
}

interface BusinessRow extends Required<Omit<BusinessSettings, 'country'>> {
  id: string
  country: string | null
  created_at: Date
}

/** Makes a business and answers with its id. */
export async function createBusiness(sql: Sql, settings: BusinessSettings & { name: string }): Promise<string> {
  const id = uuidv7()
  await sql`insert into businesses ${sql({ id, ...toColumns(settings) })}`
  return id
}

/** The driver is told no types, so a list is written as Postgres reads it (an origin holds no quote). */
function toColumns({ origins, ...others }: BusinessSettings): Record<string, string | number | boolean> {
  return { ...others, ...(origins && { origins: `{${origins.map((origin) => `"${origin}"`).join(',')}}` }) }
}

/** Decisions depend on it: no save goes through that was decided by the former value. */
const raiseConfig = (sql: Sql, { page_identify, active }: BusinessSettings) =>
  page_identify === undefined && active === undefined ? sql`` : sql`, config_version = config_version + 1`

/** Throws CommandError when there is no such business. */
export async function requireBusiness(sql: Sql, id: string): Promise<void> {
  const [found] = await sql`select 1 from businesses where id = ${id} and removed_at is null`
  if (!found) throw noBusiness(id)
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
  const checks = {
    name: checkName,
    active: checkActive,
    'rate-limit': checkRateLimit,
    currency: checkCurrency,
    country: checkCountry,
    timezone: checkTimezone,
    'page-identify': checkPageIdentify,
    bots: checkBots,
  }
  const given = Object.entries(checks).flatMap(([option, check]) => {
    const text = words.text(option)
    return text === undefined ? [] : [[option.replace('-', '_'), check(text)]]
  })
  const origins = words.texts('origin')
  return {
    ...(Object.fromEntries(given) as BusinessSettings),
    ...(origins.length && { origins: checkOrigins(origins) }),
  }
}

const create: Command = {
  name: 'business create',
  summary: 'Make a business',
  options: { name: { value: 'NAME', help: 'What people call it' }, ...showDefaults(SETTINGS, DEFAULTS) },
  required: ['name'],
  async run(config, words) {
    const settings = { ...readSettings(words), name: checkName(words.text('name') ?? '') }
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
    await withPostgres(config, async (sql) => {
      const { count } = await sql`
        update businesses set ${sql(toColumns(settings))}${raiseConfig(sql, settings)}
        where id = ${businessId} and removed_at is null`
      if (count === 0) throw noBusiness(businessId)
    })
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
    await withPostgres(config, async (sql) => {
      const { count } = await sql`
        update businesses set removed_at = now() where id = ${businessId} and removed_at is null`
      if (count === 0) throw noBusiness(businessId)
    })
    return { json: { businessId, removed: true }, text: `Business ${businessId} is removed` }
  },
}

const HEADS = ['BUSINESS', 'STATE', 'RATE LIMIT', 'CURRENCY', 'COUNTRY', 'TIME ZONE', 'PAGES', 'BOTS', 'NAME']

const list: Command = {
  name: 'business list',
  summary: 'Show every business',
  async run(config) {
    const rows = await withPostgres(
      config,
      (sql) => sql<BusinessRow[]>`
        select id, name, active, rate_limit, currency, country, timezone, to_jsonb(origins) as origins,
          page_identify, bots, created_at
        from businesses where removed_at is null order by id`,
    )
    const businesses = rows.map((row) => ({
      businessId: row.id,
      name: row.name,
      active: row.active,
      rateLimit: row.rate_limit,
      currency: row.currency,
      country: row.country,
      timezone: row.timezone,
      origins: row.origins,
      pageIdentify: row.page_identify,
      bots: row.bots,
      createdAt: row.created_at.toISOString(),
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
