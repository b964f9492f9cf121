/**
 * Password hashes (Argon2id). A hash takes 19 MiB and tens of milliseconds of a core. So only one is computed at a
 * time, with a pause after it, and the number of waiting callers is limited: a flood of sign-ins must not slow down the
 * ingest.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { hash, verify } from '@node-rs/argon2'

export const PASSWORD_LENGTH = { min: 10, max: 200 }

const SETTINGS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
const MAX_WAITING = 20
/** The pause after a hash, as a multiple of its time: hashes use at most a third of a core. */
const REST_FACTOR = 2

/** Thrown when too many callers wait for a hash. */
export class PasswordsBusy extends Error {
  override name = 'PasswordsBusy'
}

let waiting = 0
let turn: Promise<unknown> = Promise.resolve()

/** Throws PasswordsBusy. */
export const hashPassword = (password: string): Promise<string> => inTurn(() => hash(password, SETTINGS))

/**
 * Takes the same time without a stored hash, so that the time does not show whether an account exists. Throws
 * PasswordsBusy.
 */
export function verifyPassword(stored: string | null, password: string): Promise<boolean> {
  return inTurn(async () => (await verify(stored ?? NOBODY, password)) && stored !== null)
}

const base64 = (bytes: number): string => randomBytes(bytes).toString('base64').replaceAll('=', '')
const { memoryCost, timeCost, parallelism } = SETTINGS
/**
 * A hash with no known password. It is made up instead of computed, so that the first check takes no longer than
 * others.
 */
const NOBODY = `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$${base64(16)}$${base64(32)}`

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (waiting >= MAX_WAITING) throw new PasswordsBusy()
  waiting += 1
  const before = turn
  const { promise, resolve } = Promise.withResolvers<void>()
  turn = promise
  try {
    await before
    const startedAt = performance.now()
    const done = await work()
    // The next caller waits for the pause; this one does not.
    void sleep((performance.now() - startedAt) * REST_FACTOR).then(resolve)
    return done
  } catch (error) {
    resolve()
    throw error
  } finally {
    waiting -= 1
  }
}
