/** `admin key …` */
import { commandActor } from '../audit/command-actor.ts'
import { KEY_KINDS, createKey, importKey, listKeys, readKeyKind, revokeKey } from '../businesses/keys.ts'
import { requireBusiness } from './business.ts'
import { checkId } from './read-option.ts'
import { type Command, CommandError, UsageError } from './command.ts'
import { withPostgres } from './open-postgres.ts'
import { formatTable } from './format-help.ts'

const BUSINESS = { value: 'ID', help: 'The business that the key gives access to' }

const create: Command = {
  name: 'key create',
  summary: 'Create a key; it is shown only once',
  options: {
    business: BUSINESS,
    kind: { value: 'secret|publishable', help: 'secret: only for servers; publishable: for pages (secret)' },
  },
  required: ['business'],
  async run(config, args) {
    const businessId = checkId('--business', args.text('business') ?? '')
    const wanted = args.text('kind') ?? 'secret'
    const kind = KEY_KINDS.find((one) => one === wanted)
    if (!kind) throw new UsageError(`--kind must be secret or publishable, not "${wanted}"`)
    const createdKey = await withPostgres(config, async (sql) => {
      await requireBusiness(sql, businessId)
      return createKey(sql, { businessId, actor: commandActor('admin key create') }, kind)
    })
    return { json: createdKey, text: `Key ${createdKey.keyId}. Copy it now, it is shown only once:\n${createdKey.key}` }
  },
}

const importOne: Command = {
  name: 'key import',
  summary: 'Import a key that was made elsewhere, such as an older sluice_live_ key',
  options: { business: BUSINESS, key: { value: 'KEY', help: 'The whole key; only its hash is stored' } },
  required: ['business', 'key'],
  async run(config, args) {
    const businessId = checkId('--business', args.text('business') ?? '')
    const key = args.text('key') ?? ''
    const kind = readKeyKind(key)
    if (typeof kind !== 'string') throw new UsageError(`--key ${kind.broken}`)
    const keyId = await withPostgres(config, async (sql) => {
      await requireBusiness(sql, businessId)
      return importKey(sql, { businessId, actor: commandActor('admin key import') }, kind, key)
    })
    if (keyId === null)
      throw new CommandError(
        'key_exists',
        'This key is already known, perhaps as a revoked one. To see all: admin key list',
      )
    return { json: { keyId, kind }, text: `Key ${keyId} was imported as a ${kind} key` }
  },
}

const revoke: Command = {
  name: 'key revoke',
  summary: 'Revoke a key permanently; it is rejected within a second',
  positionals: ['KEYID'],
  async run(config, args) {
    const keyId = checkId('KEYID', args.positional(0))
    const by = { businessId: null, actor: commandActor('admin key revoke') }
    const isRevoked = await withPostgres(config, (sql) => revokeKey(sql, by, keyId))
    if (!isRevoked) throw new CommandError('key_not_found', `There is no key ${keyId}. To see all: admin key list`)
    return { json: { keyId, revoked: true }, text: `Key ${keyId} was revoked` }
  },
}

const HEADS = ['KEY', 'KIND', 'ENDS WITH', 'STATE', 'BUSINESS']

const list: Command = {
  name: 'key list',
  summary: 'List keys with their last four characters',
  options: { business: { value: 'ID', help: 'Only this business' } },
  async run(config, args) {
    const business = args.text('business')
    const businessId = business === undefined ? null : checkId('--business', business)
    const listed = await withPostgres(config, async (sql) => {
      if (businessId) await requireBusiness(sql, businessId)
      return listKeys(sql, businessId)
    })
    const keys = listed.map((key) => ({
      ...key,
      createdAt: key.createdAt.toISOString(),
      revokedAt: key.revokedAt?.toISOString() ?? null,
      lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
    }))
    const lines = keys.map((key) => [
      key.keyId,
      key.kind,
      `…${key.hint}`,
      key.revokedAt ? `revoked ${key.revokedAt}` : 'active',
      key.businessId,
    ])
    return { json: { keys }, text: lines.length ? formatTable([HEADS, ...lines]) : 'There are no keys yet' }
  },
}

export const KEY_COMMANDS: Command[] = [create, importOne, revoke, list]
