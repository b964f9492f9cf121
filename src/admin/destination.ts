/** Where conversions are sent: ad platforms and webhooks. */
import { randomBytes } from 'node:crypto'
import { readActive, readName } from '../businesses/settings.ts'
import type { Config } from '../config.ts'
import type { Conversion } from '../deliveries/conversion.ts'
import {
  type Destination,
  type DestinationChange,
  addDestination,
  findDestination,
  listDestinations,
  newDestinationId,
  removeDestination,
  updateDestination,
} from '../deliveries/destinations.ts'
import { keepGoogleTokens } from '../deliveries/google-token.ts'
import { SealError, USE_THE_SAME, openSecret, sealSecret } from '../deliveries/seal-secret.ts'
import { sendConversion } from '../deliveries/send-conversion.ts'
import { DESTINATION_KINDS, type Setup, type WebhookSecret, readSetup, settingNames } from '../deliveries/settings.ts'
import { CONVERSION_TYPES } from '../rules/events/facts.ts'
import type { Sql } from '../stores/postgres.ts'
import { requireBusiness } from './business.ts'
import { checkId, checkSetting } from './check-option.ts'
import { type Command, CommandError, type Option, UsageError, type Words, showDefaults } from './command.ts'
import { withPostgres } from './open-postgres.ts'
import { explained, readKind, readSecret, readSettings, readTypes } from './read-destination.ts'
import { table } from './show-help.ts'

const TEST_MS = 20_000

const SETTINGS: Record<string, Option> = {
  name: { value: 'NAME', help: 'A name for it' },
  types: { value: 'LIST', help: 'Conversions to send: purchase, lead, booking; not for google' },
  set: { value: 'NAME=VALUE', help: 'A setting of its kind; repeat it for more', repeated: true },
  'secret-file': { value: 'FILE', help: 'Its secret, or - for standard input' },
}
const DEFAULTS = { name: 'its kind', types: 'all', 'secret-file': 'of a webhook: made' }
const SAME_KEY = 'Workers need the same SECRETS_KEY as this command, and are started with it.'
const NOTES = DESTINATION_KINDS.map((kind) => `Settings of ${kind}: ${settingNames(kind).join(', ')}`).join('\n')

const add: Command = {
  name: 'destination add',
  summary: 'Send the conversions of a business to an ad platform or a webhook from now on',
  options: {
    business: { value: 'ID', help: 'The business whose conversions are sent' },
    kind: { value: DESTINATION_KINDS.join('|'), help: 'The kind of destination' },
    ...showDefaults(SETTINGS, DEFAULTS),
  },
  required: ['business', 'kind'],
  notes: `${NOTES}\n${SAME_KEY}`,
  async run(config, words) {
    const businessId = checkId('--business', words.text('business') ?? '')
    const kind = readKind(words)
    const given = await readSecret(kind, words)
    if (!given && kind !== 'webhook') throw new UsageError('--secret-file is missing')
    const made = given ? undefined : makeSigningKey()
    const secret = given ?? { signingKey: made }
    const settings = readSettings(kind, {}, words)
    const id = newDestinationId()
    const name = checkSetting('--name', words.text('name') ?? kind, readName)
    const types = readTypes(kind, settings, words) ?? [...CONVERSION_TYPES]
    await withPostgres(config, async (sql) => {
      await requireBusiness(sql, businessId)
      const sealed = sealSecret(secret, id, await requireSecretsKey(sql, config))
      await addDestination(sql, { id, businessId, kind, name, types, settings, secret: sealed })
    })
    const shown = made === undefined ? '' : `. Its signing key, shown this once:\n${made}`
    return {
      json: { destinationId: id, ...(made !== undefined && { signingKey: made }) },
      text: `Destination ${name}: ${id}${shown}\n${SAME_KEY}`,
    }
  },
}

/** How long the former signing key of a webhook signs beside the new one. */
const CHANGE_OVER_MS = 86_400_000

const CHANGES: Record<string, Option> = {
  ...SETTINGS,
  'new-signing-key': { help: 'Of a webhook: make a new signing key, shown once' },
  active: { value: 'true|false', help: 'Whether anything is queued for it, and sent' },
}
const update: Command = {
  name: 'destination update',
  summary: 'Change a destination; what is not named stays',
  positionals: ['ID'],
  options: CHANGES,
  notes:
    `${NOTES}\nNAME= takes a setting back to its default.\n` +
    'When the signing key of a webhook changes, both keys sign for 24 hours (header webhook-signature).',
  async run(config, words) {
    if (!Object.keys(CHANGES).some((option) => words.flag(option)))
      throw new UsageError('Nothing to change: give at least one option')
    const [active, name] = [words.text('active'), words.text('name')]
    const made = words.flag('new-signing-key') ? makeSigningKey() : undefined
    const destinationId = await withDestination(config, words, async (sql, found) => {
      const secret = readNewSecret(found, config, { made, given: await readSecret(found.kind, words) })
      const change = {
        ...(name !== undefined && { name: checkSetting('--name', name, readName) }),
        ...(active !== undefined && { active: checkSetting('--active', active, readActive) }),
        ...(secret && { secret: sealSecret(secret, found.id, await requireSecretsKey(sql, config)) }),
      }
      // A person may have taken long over the secret: where somebody else was faster, settings are changed as those left them.
      let before: Destination = found
      while (!(await updateDestination(sql, before, { ...change, ...readChange(before, words) })))
        before = await requireDestination(sql, found.id)
      return found.id
    })
    const shown = made === undefined ? '' : `. Its new signing key, shown this once:\n${made}`
    return {
      json: { destinationId, ...(made !== undefined && { signingKey: made }) },
      text: `Destination ${destinationId} is changed${shown}`,
    }
  },
}

/** A webhook's former key goes on signing for a while, if it can still be opened. */
function readNewSecret(
  found: Destination & { secret: string },
  config: Config,
  { made, given }: { made: string | undefined; given: object | undefined },
): object | undefined {
  if (made !== undefined && found.kind !== 'webhook') throw new UsageError('--new-signing-key is for webhooks alone')
  if (made !== undefined && given) throw new UsageError('Give --new-signing-key or --secret-file, not both')
  const secret = made === undefined ? given : { signingKey: made }
  if (!secret || found.kind !== 'webhook') return secret
  try {
    const { signingKey } = openSecret(found.secret, found.id, config.secretsKey) as WebhookSecret
    return { ...secret, former: { signingKey, until: Date.now() + CHANGE_OVER_MS } }
  } catch (error) {
    if (error instanceof SealError) return secret
    throw error
  }
}

function readChange({ kind, settings: before }: Destination, words: Words): DestinationChange {
  const settings = readSettings(kind, before, words)
  const types = readTypes(kind, settings, words)
  return { settings, ...(types && { types }) }
}

const remove: Command = {
  name: 'destination remove',
  summary: 'End a destination for good, with what waits for it',
  positionals: ['ID'],
  options: { yes: { help: 'Yes, it cannot be undone' } },
  async run(config, words) {
    if (!words.flag('yes')) throw new UsageError('What waits for it is dropped: add --yes')
    const destinationId = await withDestination(config, words, async (sql, found) => {
      const report = (soFar: number) => void process.stderr.write(`Dropped: ${soFar} so far\n`)
      await removeDestination(sql, found, report)
      return found.id
    })
    return { json: { destinationId, removed: true }, text: `Destination ${destinationId} is removed` }
  },
}

const HEADS = ['DESTINATION', 'KIND', 'STATE', 'TYPES', 'SETTINGS', 'NAME']

const list: Command = {
  name: 'destination list',
  summary: 'Show destinations, without their secrets',
  options: { business: { value: 'ID', help: 'Of this business alone' } },
  async run(config, words) {
    const business = words.text('business')
    const businessId = business === undefined ? undefined : checkId('--business', business)
    const found = await withPostgres(config, (sql) => listDestinations(sql, businessId))
    const destinations = found.map(({ id, createdAt, ...one }) => ({
      destinationId: id,
      ...one,
      createdAt: createdAt.toISOString(),
    }))
    const lines = destinations.map((one) => [
      one.destinationId,
      one.kind,
      one.active ? 'active' : 'inactive',
      one.types.join(','),
      JSON.stringify(one.settings),
      one.name,
    ])
    return { json: { destinations }, text: lines.length ? table([HEADS, ...lines]) : 'There is no destination yet' }
  },
}

const test: Command = {
  name: 'destination test',
  summary: 'Send a made-up conversion now, which counts nowhere, and show the outcome',
  positionals: ['ID'],
  notes:
    'Meta shows it under the test code (setting testEventCode, required); Google only checks it; a webhook gets the type "test".\n' +
    `It is sent by this command, and says nothing of the workers. ${SAME_KEY}`,
  async run(config, words) {
    const { kind, ...verdict } = await withDestination(config, words, async (_, found) => {
      const setup = explained(() => readSetup(found.kind, found.settings, open(found, config)))
      requireTestCode(setup)
      const deps = { tokens: keepGoogleTokens(), now: Date.now }
      const sending = { setup, conversion: madeUpConversion(found), isTest: true }
      return sendConversion(deps, sending, AbortSignal.timeout(TEST_MS))
    })
    const reason = 'reason' in verdict ? verdict.reason : null
    const text = reason === null ? `It was taken. ${SAME_KEY}` : `It was not taken: ${reason}`
    return { json: { taken: kind === 'sent', reason }, text, exitCode: kind === 'sent' ? 0 : 1 }
  },
}

export const DESTINATION_COMMANDS: Command[] = [add, list, update, remove, test]

async function withDestination<Result>(
  config: Config,
  words: Words,
  use: (sql: Sql, found: Destination & { secret: string }) => Promise<Result>,
): Promise<Result> {
  const id = checkId('ID', words.positional(0))
  return withPostgres(config, async (sql) => {
    return use(sql, await requireDestination(sql, id))
  })
}

async function requireDestination(sql: Sql, id: string): Promise<Destination & { secret: string }> {
  const found = await findDestination(sql, id)
  if (!found) throw new CommandError('destination_not_found', `There is no destination ${id}`)
  return found
}

/** Only where nothing is sealed yet is any new key a right one. */
async function requireSecretsKey(sql: Sql, { secretsKey }: Config): Promise<string> {
  if (secretsKey !== undefined) return secretsKey
  const isFirst = (await listDestinations(sql)).length === 0
  const remedy = isFirst
    ? 'make one with `openssl rand -hex 32`, and start Sluice and run this with the same one'
    : USE_THE_SAME
  throw new CommandError('secrets_key', `SECRETS_KEY is not set: ${remedy}`)
}

/** 256 random bits. */
const makeSigningKey = (): string => `whsec_${randomBytes(32).toString('base64')}`

function open({ id, secret }: { id: string; secret: string }, { secretsKey }: Config): object {
  return explained(() => openSecret(secret, id, secretsKey))
}

/** Without it Meta would count it. */
function requireTestCode(setup: Setup): void {
  if (setup.kind === 'meta' && setup.settings.testEventCode === undefined)
    throw new UsageError('Meta shows a test under a code: --set testEventCode=TEST… first, and take it back afterwards')
}

function madeUpConversion({ id, types: [type = 'lead'] }: Destination): Conversion {
  return {
    eventId: newDestinationId(),
    contactId: id,
    event: 'test',
    type,
    occurredAt: Date.now(),
    amount: 1,
    currency: 'USD',
    idempotencyKey: null,
    emails: ['test@example.com'],
    phones: [],
    customerId: null,
    clicks: {},
  }
}
