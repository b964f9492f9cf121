/** The second factor of a user: codes of an authenticator app, and recovery codes. */
import { randomBytes } from 'node:crypto'
import { type Actor, recordAudit } from '../audit/audit.ts'
import type { Queryable, Sql } from '../stores/postgres.ts'
import { inTransaction } from '../stores/transaction.ts'
import { recordAccountChange } from './record-account-change.ts'
import { hashToken } from './tokens.ts'
import { matchTotp } from './totp.ts'
import { type UserName, lockUser } from './users.ts'

const RECOVERY_CODES = 10
const RECOVERY_BYTES = 8

/** Wrong codes in a row before the first pause. Each further one doubles the pause, up to the longest. */
export const FREE_GUESSES = 5
const FIRST_PAUSE_SECONDS = 60
const LONGEST_PAUSE_SECONDS = 3600
/** With the longest pause, these are about a day apart. */
const GUESSES_PER_WARNING = 25

/**
 * Stores an encrypted secret, which is used once one of its codes is confirmed. Does nothing when there already is a
 * confirmed secret.
 */
export async function startTotp(sql: Queryable, id: string, sealed: string): Promise<void> {
  await sql`update users set totp_secret = ${sealed}, totp_last_step = 0 where id = ${id} and not totp_confirmed`
}

export async function readTotpSecret(
  sql: Queryable,
  id: string,
): Promise<{ secret: string | null; isConfirmed: boolean }> {
  const [found] = await sql<{ secret: string | null; isConfirmed: boolean }[]>`
    select totp_secret as secret, totp_confirmed as "isConfirmed" from users where id = ${id}`
  return found ?? { secret: null, isConfirmed: false }
}

/**
 * Turns the second factor on: the code of a time step, which counts as used, has confirmed the secret `sealed`. Resolves
 * with the recovery codes, which are not available later; with null when the secret was confirmed or replaced in the
 * meantime.
 */
export async function confirmTotp(
  sql: Sql,
  user: UserName,
  { sealed, step }: { sealed: string; step: number },
): Promise<string[] | null> {
  const codes = Array.from({ length: RECOVERY_CODES }, () => randomBytes(RECOVERY_BYTES).toString('hex'))
  const hashes = `{${codes.map((code) => `"\\\\x${hashToken(code).toString('hex')}"`).join(',')}}`
  return await inTransaction(sql, async (tx) => {
    const { count } = await tx`
      update users set totp_confirmed = true, totp_last_step = ${step}, recovery_hashes = ${hashes}::bytea[],
        wrong_codes = 0, codes_paused_until = null
      where id = ${user.id} and totp_secret = ${sealed} and not totp_confirmed`
    if (count === 0) return null
    await recordAccountChange(tx, user, 'second-factor-on')
    return codes
  })
}

/** Turns a person's own second factor off. */
export const turnTotpOff = (sql: Sql, user: UserName): Promise<void> =>
  inTransaction(sql, async (tx) => {
    if (await removeTotp(tx, user.id)) await recordAccountChange(tx, user, 'second-factor-off')
  })

/** Turns off the second factor of a person who has lost their device. */
export const removeSecondFactor = (
  sql: Sql,
  actor: Actor,
  { id, email }: UserName,
): Promise<{ kind: 'done' } | { kind: 'not_found' }> =>
  inTransaction(sql, async (tx) => {
    if (!(await lockUser(tx, id))) return { kind: 'not_found' }
    const entry = { businessId: null, actor, action: 'person.remove-second-factor', target: id }
    if (await removeTotp(tx, id)) await recordAudit(tx, { ...entry, details: { email } })
    return { kind: 'done' }
  })

/** Ends a setup that was only begun, too. Returns whether the second factor was on. */
async function removeTotp(sql: Queryable, id: string): Promise<boolean> {
  const [before] = await sql<{ wasOn: boolean }[]>`
    update users u set totp_secret = null, totp_confirmed = false, totp_last_step = 0, recovery_hashes = '{}',
      wrong_codes = 0, codes_paused_until = null
    from (select id, totp_confirmed from users where id = ${id} for no key update) before where u.id = before.id
    returning before.totp_confirmed as "wasOn"`
  return before?.wasOn === true
}

/** `warns`: the person should be notified of the wrong codes, which are `wrongCodes` in a row. */
export type Redeemed =
  | { outcome: 'accepted' }
  | { outcome: 'wrong'; wrongCodes: number; warns: boolean }
  | { outcome: 'paused'; seconds: number }

interface SentCode {
  id: string
  /** Decrypted. */
  secret: string
  code: string
  now: number
}

/**
 * Accepts a code of the app or a recovery code. Each can be used once. Wrong codes are followed by a growing pause, in
 * which no code of the app is looked at. A recovery code still counts then: it is too long to guess.
 */
export async function redeemSecondFactor(sql: Queryable, sent: SentCode): Promise<Redeemed> {
  if (await takeRecoveryCode(sql, sent)) return { outcome: 'accepted' }
  const wrongCodes = await countGuess(sql, sent.id)
  if (wrongCodes === null) return { outcome: 'paused', seconds: await readPause(sql, sent.id) }
  if (await takeAppCode(sql, sent)) return { outcome: 'accepted' }
  const warns = wrongCodes === FREE_GUESSES || wrongCodes % GUESSES_PER_WARNING === 0
  return { outcome: 'wrong', wrongCodes, warns }
}

/**
 * Counts a code as wrong before it is looked at, so that guesses at the same time are counted one after another. Resolves
 * with the count, or with null during a pause.
 */
async function countGuess(sql: Queryable, id: string): Promise<number | null> {
  const [counted] = await sql<{ wrongCodes: number }[]>`
    update users set wrong_codes = wrong_codes + 1, codes_paused_until = case when wrong_codes + 1 >= ${FREE_GUESSES} then
      now() + make_interval(secs => least(${LONGEST_PAUSE_SECONDS}, ${FIRST_PAUSE_SECONDS} * 2 ^ least(wrong_codes + 1 - ${FREE_GUESSES}, 20))) end
    where id = ${id} and coalesce(codes_paused_until <= now(), true)
    returning wrong_codes as "wrongCodes"`
  return counted?.wrongCodes ?? null
}

async function readPause(sql: Queryable, id: string): Promise<number> {
  const [paused] = await sql<{ seconds: number }[]>`
    select ceil(extract(epoch from codes_paused_until - now()))::int as seconds from users where id = ${id}`
  return Math.max(1, paused?.seconds ?? 1)
}

async function takeAppCode(sql: Queryable, { id, secret, code, now }: SentCode): Promise<boolean> {
  const step = matchTotp(secret, code, now)
  if (step === null) return false
  const { count } = await sql`
    update users set totp_last_step = ${step}, wrong_codes = 0, codes_paused_until = null
    where id = ${id} and totp_last_step < ${step}`
  return count > 0
}

async function takeRecoveryCode(sql: Queryable, { id, code }: SentCode): Promise<boolean> {
  const hash = hashToken(code.replaceAll(/[\s-]/g, '').toLowerCase())
  const { count } = await sql`
    update users set recovery_hashes = array_remove(recovery_hashes, ${hash}::bytea), wrong_codes = 0,
      codes_paused_until = null
    where id = ${id} and ${hash}::bytea = any (recovery_hashes)`
  return count > 0
}
