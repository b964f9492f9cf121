/** `admin key …` */
import { KEY_KINDS, createKey, listKeys, readKeyKind, revokeKey, storeKey } from '../businesses/keys.ts'
import { requireBusiness } from './business.ts'
import { checkId } from './check-option.ts'
import { type Command, CommandError, UsageError } from './command.ts'
import { withPostgres } from './open-postgres.ts'
import { table } from './show-help.ts'

const BUSINESS = { value: 'ID', help: 'The business that the key opens' }

const create: Command = {
  name: 'key create',
  summary: 'Make a key; it is shown this once',
  options: { business: BUSINESS, kind: { value: 'secret|publishable', help: 'Secret: for servers alone (secret)' } },
  required: ['business'],
  async run(config, words) {
    const businessId = checkId('--business', words.text('business') ?? '')
    const wanted = words.text('kind') ?? 'secret'
    const kind = KEY_KINDS.find((one) => one === wanted)
    if (!kind) throw new UsageError(`--kind must be secret or publishable, not "${wanted}"`)
    const made = await withPostgres(config, async (sql) => {
      await requireBusiness(sql, businessId)
      return createKey(sql, businessId, kind)
    })
    return { json: made, text: `Key ${made.keyId}, shown this once:\n${made.key}` }
  },
}

const importKey: Command = {
  name: 'key import',
  summary: 'Bring in a key made elsewhere, such as an older sluice_live_ key',
  options: { business: BUSINESS, key: { value: 'KEY', help: 'The whole key; only its hash is stored' } },
  required: ['business', 'key'],
  async run(config, words) {
    const businessId = checkId('--business', words.text('business') ?? '')
    const key = words.text('key') ?? ''
    const kind = readKeyKind(key)
    if (typeof kind !== 'string') throw new UsageError(`--key ${kind.broken}`)
    const keyId = await withPostgres(config, async (sql) => {
      await requireBusiness(sql, businessId)
      return storeKey(sql, businessId, kind, key)
    })
    if (keyId === null) throw new CommandError('key_exists', 'This key is known already, perhaps as a revoked one')
    return { json: { keyId, kind }, text: `Key ${keyId} is imported as a ${kind} key` }
  },
}

const revoke: Command = {
  name: 'key revoke',
  summary: 'End a key for good; it is refused everywhere within a second',
  positionals: ['KEYID'],
  async run(config, words) {
    const keyId = checkId('KEYID', words.positional(0))
    const isRevoked = await withPostgres(config, (sql) => revokeKey(sql, keyId))
    if (!isRevoked) throw new CommandError('key_not_found', `There is no key ${keyId}`)
    return { json: { keyId, revoked: true }, text: `Key ${keyId} is revoked` }
  },
}

const HEADS = ['KEY', 'KIND', 'ENDS WITH', 'STATE', 'BUSINESS']

const list: Command = {
  name: 'key list',
  summary: 'Show keys by their last four characters',
  options: { business: { value: 'ID', help: 'Of this business alone' } },
  async run(config, words) {
    const business = words.text('business')
    const businessId = business === undefined ? null : checkId('--business', business)
    const listed = await withPostgres(config, async (sql) => {
      if (businessId) await requireBusiness(sql, businessId)
      return listKeys(sql, businessId)
    })
    const keys = listed.map((key) => ({
      ...key,
      createdAt: key.createdAt.toISOString(),
      revokedAt: key.revokedAt?.toISOString() ?? null,
    }))
    const lines = keys.map((key) => [
      key.keyId,
      key.kind,
      `…${key.hint}`,
      key.revokedAt ? `revoked ${key.revokedAt}` : 'active',
      key.businessId,
    ])
    return { json: { keys }, text: lines.length ? table([HEADS, ...lines]) : 'There is no key yet' }
  },
}

export const KEY_COMMANDS: Command[] = [create, importKey, revoke, list]
