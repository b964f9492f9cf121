/** Keys: only their hashes are stored, so a key is shown once. */
import { createHash, randomBytes } from 'node:crypto'
import { uuidv7 } from 'uuidv7'
import type { Sql } from '../stores/postgres.ts'
import { requireBusiness } from './business.ts'
import { checkId } from './check-settings.ts'
import { type Command, CommandError, UsageError } from './command.ts'
import { withPostgres } from './open-postgres.ts'
import { table } from './show-help.ts'

export type KeyKind = 'secret' | 'publishable'

const PREFIXES: Record<KeyKind, string> = { secret: 'sk_live_', publishable: 'pk_live_' }
const OLDER_PREFIX = 'sluice_live_'
const RANDOM_BYTES = 24

interface KeyRow {
  id: string
  business_id: string
  kind: KeyKind
  hint: string
  created_at: Date
  revoked_at: Date | null
}

/** Makes a key; `key` is its only appearance. */
export async function createKey(sql: Sql, businessId: string, kind: KeyKind): Promise<{ keyId: string; key: string }> {
  const key = `${PREFIXES[kind]}${randomBytes(RANDOM_BYTES).toString('hex')}`
  const keyId = await storeKey(sql, businessId, kind, key)
  return { keyId, key }
}

async function storeKey(sql: Sql, businessId: string, kind: KeyKind, key: string): Promise<string> {
  const [stored] = await sql<{ id: string }[]>`
    insert into api_keys (id, business_id, kind, key_hash, hint)
    values (${uuidv7()}, ${businessId}, ${kind}, ${createHash('sha256').update(key).digest()}, ${key.slice(-4)})
    on conflict (key_hash) do nothing
    returning id`
  if (!stored) throw new CommandError('key_exists', 'This key is known already, perhaps as a revoked one')
  return stored.id
}

const BUSINESS = { value: 'ID', help: 'The business that the key opens' }

const create: Command = {
  name: 'key create',
  summary: 'Make a key; it is shown this once',
  options: { business: BUSINESS, kind: { value: 'secret|publishable', help: 'Secret: for servers alone (secret)' } },
  required: ['business'],
  async run(config, words) {
    const businessId = checkId('--business', words.text('business') ?? '')
    const kind = words.text('kind') ?? 'secret'
    if (kind !== 'secret' && kind !== 'publishable')
      throw new UsageError(`--kind must be secret or publishable, not "${kind}"`)
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
    const kind = kindOf(key)
    const keyId = await withPostgres(config, async (sql) => {
      await requireBusiness(sql, businessId)
      return storeKey(sql, businessId, kind, key)
    })
    return { json: { keyId, kind }, text: `Key ${keyId} is imported as a ${kind} key` }
  },
}

/** An older key is a secret one. Never repeats the key in a message. */
function kindOf(key: string): KeyKind {
  if (!/^[\x21-\x7e]{20,255}$/.test(key)) throw new UsageError('--key must have 20 to 255 characters without spaces')
  if (key.startsWith(PREFIXES.publishable)) return 'publishable'
  if (key.startsWith(PREFIXES.secret) || key.startsWith(OLDER_PREFIX)) return 'secret'
  throw new UsageError(`--key must begin with ${OLDER_PREFIX}, ${PREFIXES.secret} or ${PREFIXES.publishable}`)
}

const revoke: Command = {
  name: 'key revoke',
  summary: 'End a key for good; it is refused everywhere within a second',
  positionals: ['KEYID'],
  async run(config, words) {
    const keyId = checkId('KEYID', words.positional(0))
    await withPostgres(config, async (sql) => {
      const { count } = await sql`update api_keys set revoked_at = coalesce(revoked_at, now()) where id = ${keyId}`
      if (count === 0) throw new CommandError('key_not_found', `There is no key ${keyId}`)
    })
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
    const rows = await withPostgres(config, async (sql) => {
      if (businessId) await requireBusiness(sql, businessId)
      return sql<KeyRow[]>`
        select id, business_id, kind, hint, created_at, revoked_at from api_keys
        where business_id = coalesce(${businessId}::uuid, business_id) order by id`
    })
    const keys = rows.map((row) => ({
      keyId: row.id,
      businessId: row.business_id,
      kind: row.kind,
      hint: row.hint,
      createdAt: row.created_at.toISOString(),
      revokedAt: row.revoked_at?.toISOString() ?? null,
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
