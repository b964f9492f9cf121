/** `admin destination …`: the ad platforms and webhooks that conversions are sent to. */
import { readActive, readName } from '../businesses/settings.ts'
import type { Config } from '../config.ts'
import {
  type Destination,
  type DestinationChange,
  addDestination,
  listDestinations,
  newDestinationId,
  removeDestination,
  updateDestination,
} from '../deliveries/destinations.ts'
import { SealError, openSecret, sealSecret } from '../stores/seal-secret.ts'
import { DESTINATION_KINDS, type WebhookSecret, settingNames } from '../deliveries/settings.ts'
import { makeSigningKey } from '../outbound/standard-webhooks.ts'
import { CONVERSION_TYPES } from '../rules/events/facts.ts'
import type { Sql } from '../stores/postgres.ts'
import { requireBusiness } from './business.ts'
import { checkId, readOption } from './read-option.ts'
import { type Command, type Option, UsageError, type CommandArguments, showDefaults } from './command.ts'
import { withPostgres } from './open-postgres.ts'
import { openGuard, requireDestination, withDestination } from './find-destination.ts'
import { SECRETS_KEY_NOTE, test } from './test-destination.ts'
import { checkTargets, readKind, readSecret, readSettings, readTypes } from './read-destination.ts'
import { formatTable } from './format-help.ts'
import { recordCommand } from './record-command.ts'
import { requireSecretsKey } from './require-secrets-key.ts'

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
    const settings = readSettings(kind, {}, args)
    await checkTargets(settings, await openGuard(config))
    const id = newDestinationId()
    const name = readOption('--name', args.text('name') ?? kind, readName)
    const types = readTypes(kind, settings, args) ?? [...CONVERSION_TYPES]
    await withPostgres(config, async (sql) => {
      await requireBusiness(sql, businessId)
      const sealed = sealSecret(secret, id, await requireSecretsKey(sql, config))
      await sql.begin(async (tx) => {
        await addDestination(tx, { id, businessId, kind, name, types, settings, secret: sealed })
        const change = { businessId, action: 'destination.add', target: id, details: { kind, name, types } }
        await recordCommand(tx, 'destination add', change)
      })
    })
    const shown = createdKey === undefined ? '' : `. Copy its signing key now, it is shown only once:\n${createdKey}`
    return {
      json: { destinationId: id, ...(createdKey !== undefined && { signingKey: createdKey }) },
      text: `Destination ${name}: ${id}${shown}\n${SECRETS_KEY_NOTE}`,
    }
  },
}

/** How long the previous signing key of a webhook still signs, beside the new one. */
const CHANGE_OVER_MS = 86_400_000

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
      const secret = readNewSecret(found, config, { createdKey, given: await readSecret(found.kind, args) })
      const change = {
        ...(name !== undefined && { name: readOption('--name', name, readName) }),
        ...(active !== undefined && { active: readOption('--active', active, readActive) }),
        ...(secret && { secret: sealSecret(secret, found.id, await requireSecretsKey(sql, config)) }),
      }
      // Typing the secret may have taken long. If another command changed the settings meanwhile, apply this change to the new ones.
      let before: Destination = found
      for (;;) {
        const changed = readChange(before, args)
        if (args.texts('set').length > 0) await checkTargets(changed.settings, await openGuard(config))
        if (await changeDestination(sql, before, { ...change, ...changed })) break
        before = await requireDestination(sql, found.id)
      }
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

/** The log names what was changed, without the values: an address can contain a secret. */
function changeDestination(sql: Sql, before: Destination, change: DestinationChange): Promise<boolean> {
  const { businessId, id } = before
  return sql.begin(async (tx) => {
    if (!(await updateDestination(tx, before, change))) return false
    const entry = { businessId, action: 'destination.update', target: id, details: { changed: Object.keys(change) } }
    await recordCommand(tx, 'destination update', entry)
    return true
  })
}

/** The previous key of a webhook still signs for CHANGE_OVER_MS, if it can be opened. */
function readNewSecret(
  found: Destination & { secret: string },
  config: Config,
  { createdKey, given }: { createdKey: string | undefined; given: object | undefined },
): object | undefined {
  if (createdKey !== undefined && found.kind !== 'webhook')
    throw new UsageError('--new-signing-key is only for webhooks')
  if (createdKey !== undefined && given) throw new UsageError('Give --new-signing-key or --secret-file, not both')
  const secret = createdKey === undefined ? given : { signingKey: createdKey }
  if (!secret || found.kind !== 'webhook') return secret
  try {
    const { signingKey } = openSecret(found.secret, found.id, config.secretsKey) as WebhookSecret
    return { ...secret, former: { signingKey, until: Date.now() + CHANGE_OVER_MS } }
  } catch (error) {
    if (error instanceof SealError) return secret
    throw error
  }
}

function readChange({ kind, settings: before }: Destination, args: CommandArguments) {
  const settings = readSettings(kind, before, args)
  const types = readTypes(kind, settings, args)
  return { settings, ...(types && { types }) }
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
      const { businessId, id: target, kind, name } = found
      const change = { businessId, action: 'destination.remove', target, details: { kind, name } }
      await recordCommand(sql, 'destination remove', change)
      await removeDestination(sql, found, report)
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
