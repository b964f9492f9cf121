/** `admin destination …`: the ad platforms and webhooks to which conversions are sent. */
import { commandActor } from '../audit/command-actor.ts'
import { readActive, readName } from '../businesses/settings.ts'
import { changeDestination, createDestination } from '../deliveries/change-destination.ts'
import { type Destination, listDestinations, removeDestination } from '../deliveries/destinations.ts'
import { checkTargets, readSettings, readTypes } from '../deliveries/read-destination.ts'
import { DESTINATION_KINDS, settingNames } from '../deliveries/settings.ts'
import { makeSigningKey } from '../outbound/standard-webhooks.ts'
import { CONVERSION_TYPES } from '../rules/events/facts.ts'
import { requireBusiness } from './business.ts'
import { checkId, readOption } from './read-option.ts'
import { type Command, type Option, UsageError, showDefaults } from './command.ts'
import { withPostgres } from './open-postgres.ts'
import { openGuard, requireDestination, withDestination } from './find-destination.ts'
import { test } from './test-destination.ts'
import { readKind, readSecret, readSettingTexts, readTypeNames, withOperatorErrors } from './read-destination.ts'
import { formatTable } from './format-help.ts'
import { SECRETS_KEY_NOTE, requireSecretsKey, secretsKeyReminder } from './require-secrets-key.ts'

const SETTINGS: Record<string, Option> = {
  name: { value: 'NAME', help: 'Display name' },
  types: { value: 'LIST', help: 'Conversions to send, such as purchase,lead,booking; not for google' },
  set: { value: 'NAME=VALUE', help: 'A setting of this kind of destination; repeat for more', repeated: true },
  'secret-file': { value: 'FILE', help: 'File with the secret, or - for standard input' },
}
const DEFAULTS = { name: 'its kind', types: 'all', 'secret-file': 'required; for a webhook a key is generated' }
const NOTES = DESTINATION_KINDS.map((kind) => `Settings for ${kind}: ${settingNames(kind).join(', ')}`).join('\n')

const add: Command = {
  name: 'destination add',
  summary: 'Start sending the conversions of a business to an ad platform or a webhook',
  options: {
    business: { value: 'ID', help: 'The business whose conversions are sent' },
    kind: { value: DESTINATION_KINDS.join('|'), help: 'The kind of destination' },
    ...showDefaults(SETTINGS, DEFAULTS),
  },
  required: ['business', 'kind'],
  notes: `${NOTES}\n${SECRETS_KEY_NOTE}`,
  async run(config, args) {
    const businessId = checkId('--business', args.text('business') ?? '')
    const kind = readKind(args)
    const given = await readSecret(kind, args)
    if (!given && kind !== 'webhook') throw new UsageError('--secret-file is missing')
    const createdKey = given ? undefined : makeSigningKey()
    const secret = given ?? { signingKey: createdKey }
    const texts = readSettingTexts(kind, args)
    const settings = await withOperatorErrors(() => readSettings(kind, {}, texts))
    const name = readOption('--name', args.text('name') ?? kind, readName)
    const named = readTypeNames(args)
    const types = (await withOperatorErrors(() => readTypes(kind, settings, named))) ?? [...CONVERSION_TYPES]
    const id = await withPostgres(config, async (sql) => {
      const guard = await openGuard(config, sql)
      await withOperatorErrors(() => checkTargets(settings, guard))
      await requireBusiness(sql, businessId)
      const secretsKey = await requireSecretsKey(sql, config)
      const by = { businessId, actor: commandActor('admin destination add') }
      return createDestination(sql, by, { kind, name, types, settings, secret }, secretsKey)
    })
    const shown = createdKey === undefined ? '' : `. Copy its signing key now, it is shown only once:\n${createdKey}`
    return {
      json: { destinationId: id, ...(createdKey !== undefined && { signingKey: createdKey }) },
      text: `Destination ${name}: ${id}${shown}${await secretsKeyReminder(config)}`,
    }
  },
}

const CHANGES: Record<string, Option> = {
  ...SETTINGS,
  'new-signing-key': { help: 'Generate a new signing key, shown only once; only for a webhook' },
  active: { value: 'true|false', help: 'Whether conversions are queued for it and sent' },
}
const update: Command = {
  name: 'destination update',
  summary: 'Change a destination; options that you leave out stay as they are',
  positionals: ['ID'],
  options: CHANGES,
  notes:
    `${NOTES}\n--set NAME= resets a setting to its default.\n` +
    'After the signing key of a webhook changes, both keys sign for 24 hours (header webhook-signature).',
  async run(config, args) {
    if (!Object.keys(CHANGES).some((option) => args.flag(option)))
      throw new UsageError('Nothing to change. Give at least one option')
    const [active, name] = [args.text('active'), args.text('name')]
    const createdKey = args.flag('new-signing-key') ? makeSigningKey() : undefined
    const destinationId = await withDestination(config, args, async (sql, found) => {
      const parts = readNewSecret(found, { createdKey, given: await readSecret(found.kind, args) })
      const types = readTypeNames(args)
      const wanted = {
        ...(name !== undefined && { name: readOption('--name', name, readName) }),
        ...(active !== undefined && { active: readOption('--active', active, readActive) }),
        ...(types && { types }),
        settings: readSettingTexts(found.kind, args),
        ...(parts && { secret: { parts, secretsKey: await requireSecretsKey(sql, config) } }),
      }
      const deps = { sql, guard: await openGuard(config, sql) }
      const actor = commandActor('admin destination update')
      const isChanged = await withOperatorErrors(() => changeDestination(deps, actor, found, wanted))
      if (!isChanged) await requireDestination(sql, found.id)
      return found.id
    })
    const shown =
      createdKey === undefined ? '' : `. Copy its new signing key now, it is shown only once:\n${createdKey}`
    return {
      json: { destinationId, ...(createdKey !== undefined && { signingKey: createdKey }) },
      text: `Destination ${destinationId} was changed${shown}`,
    }
  },
}

function readNewSecret(
  { kind }: Destination,
  { createdKey, given }: { createdKey: string | undefined; given: object | undefined },
): object | undefined {
  if (createdKey !== undefined && kind !== 'webhook') throw new UsageError('--new-signing-key is only for webhooks')
  if (createdKey !== undefined && given) throw new UsageError('Give --new-signing-key or --secret-file, not both')
  return createdKey === undefined ? given : { signingKey: createdKey }
}

const remove: Command = {
  name: 'destination remove',
  summary: 'Remove a destination and its queued conversions permanently',
  positionals: ['ID'],
  options: { yes: { help: 'Confirm: this cannot be undone' } },
  async run(config, args) {
    if (!args.flag('yes')) throw new UsageError('Its queued conversions are deleted, too. To confirm, add --yes')
    const destinationId = await withDestination(config, args, async (sql, found) => {
      const report = (soFar: number) => void process.stderr.write(`Dropped: ${soFar} so far\n`)
      await removeDestination(sql, commandActor('admin destination remove'), found, { report })
      return found.id
    })
    return { json: { destinationId, removed: true }, text: `Destination ${destinationId} was removed` }
  },
}

const HEADS = ['DESTINATION', 'KIND', 'STATE', 'TYPES', 'SETTINGS', 'NAME']

const list: Command = {
  name: 'destination list',
  summary: 'List destinations, without their secrets',
  options: { business: { value: 'ID', help: 'Only this business' } },
  async run(config, args) {
    const business = args.text('business')
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
    return {
      json: { destinations },
      text: lines.length ? formatTable([HEADS, ...lines]) : 'There are no destinations yet',
    }
  },
}

export const DESTINATION_COMMANDS: Command[] = [add, list, update, remove, test]
