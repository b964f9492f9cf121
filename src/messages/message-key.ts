/** The key for hashes of addresses and for tokens in messages (sql/postgres/0011_messages.sql). */
import { createHmac } from 'node:crypto'
import type { Sql } from '../stores/postgres.ts'

export type MessageKey = Buffer

/** It never changes. */
const keys = new WeakMap<Sql, Promise<MessageKey>>()

/** Read once per pool of connections. */
export function loadMessageKey(sql: Sql): Promise<MessageKey> {
  const known = keys.get(sql)
  if (known !== undefined) return known
  const loading = readKey(sql)
  keys.set(sql, loading)
  loading.catch(() => keys.delete(sql))
  return loading
}

async function readKey(sql: Sql): Promise<MessageKey> {
  const [row] = await sql<{ key: MessageKey }[]>`select key from message_key`
  if (row === undefined) throw new Error('Postgres has lost the key of messages (table message_key): restore it')
  return row.key
}

/** Derives 32 bytes. Each `purpose` has its own key. */
export function signWith(
  key: MessageKey,
  purpose: 'address' | 'callback' | 'unsubscribe' | 'confirmation' | 'click' | 'open',
  signed: Buffer | string,
): Buffer {
  return createHmac('sha256', key).update(`${purpose}\0`).update(signed).digest()
}
