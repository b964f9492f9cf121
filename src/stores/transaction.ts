/**
 * Transactions of several statements. The `begin` of postgres.js 3.4.9 does not survive the end of its connection: it
 * sends a ROLLBACK, and whatever the transaction does next, on a socket that is gone. That ends the process (an error
 * in a timer of the driver), and leaves statements that never settle. After the reconnect the rest of the transaction
 * would run on its own, or in the transaction of another caller. Here no statement reaches a connection after its
 * transaction.
 */
import type postgres from 'postgres'
import { type Query, connectionClosed, onEachQuery } from './guard-queries.ts'
import { type Sql, wasRolledBack } from './postgres.ts'

export type Transaction = postgres.TransactionSql

/** The part of a connection of postgres.js that its own `begin` uses. */
interface Connection {
  /** While it is set, the pool gives the connection no queries. Called when all queries of the connection are done. */
  reserved: (() => void) | null
  /** Called as soon as the socket has closed. */
  onclose: (() => void) | null
  /** Returns whether the connection takes further queries before this one is done. */
  execute(query: Query): boolean
}

/**
 * Commits what `work` did and resolves with its result. Rolls back and rejects if `work` or any of its statements
 * failed, or the connection closed. Repeats nothing.
 *
 * If the answer to the COMMIT is lost, it rejects, and it is not known whether the changes were made (`wasUndone`).
 * Postgres cannot be asked afterwards: after a crash or a failover it gives transaction numbers out again, so the status of
 * this one could be another's.
 */
export async function inTransaction<Result>(sql: Sql, work: (tx: Transaction) => Promise<Result>): Promise<Result> {
  const session = new TransactionSession(sql)
  await session.begin()
  let result: Result
  try {
    // Not everything that `work` awaits ends with its connection.
    result = await Promise.race([work(session.sql), session.closed])
    session.requireNoFault()
  } catch (error) {
    await session.rollBack()
    throw undone(session.causeOf(error))
  }
  await session.commit()
  return result
}

const undoneErrors = new WeakSet<Error>()

function undone(error: unknown): unknown {
  if (error instanceof Error) undoneErrors.add(error)
  return error
}

/** Returns whether this error of `inTransaction` came before its COMMIT, or instead of it: it changed nothing. */
export const wasUndone = (error: unknown): boolean => error instanceof Error && undoneErrors.has(error)

/** For what a call reads before its only transaction: when it fails, nothing was changed. */
export async function beforeChange<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw undone(error)
  }
}

/** For what follows the commit of another change: when it fails, `wasUndone` would be wrong for both together. */
export async function afterCommit<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Error) undoneErrors.delete(error)
    throw error
  }
}

class TransactionSession {
  /** Runs statements in this transaction. */
  readonly sql: Transaction
  /** Rejects as soon as the connection has closed. */
  readonly closed: Promise<never>
  readonly #close: (error: Error) => void
  readonly #pool: Sql
  readonly #unsettled = new Set<Query>()
  /** Statements that the connection takes when it has answered those before them. */
  readonly #waiting: Query[] = []
  #connection: Connection | undefined
  #isFull = true
  #isEnding = false
  /** The error of the first statement that failed. */
  #fault: { error: unknown } | undefined

  constructor(pool: Sql) {
    this.#pool = pool
    const { promise, reject } = Promise.withResolvers<never>()
    promise.catch(() => undefined)
    this.closed = promise
    this.#close = reject
    this.sql = onEachQuery(pool, (query) => this.#bind(query, () => !this.#isEnding)) as unknown as Transaction
  }

  /**
   * The driver calls `onexecute` with the connection that it chose, as soon as it has taken the statement. It does not
   * when its socket is full, or when many statements wait on it. So the connection is taken by an empty statement,
   * which leaves nothing behind then, and the BEGIN follows only on a connection of this transaction.
   */
  async begin(): Promise<void> {
    const begin = this.#pool.unsafe('begin')
    this.#bind(begin as unknown as Query, () => true)
    const onexecute = (connection: Connection): void => {
      this.#connection = connection
      Object.assign(connection, { reserved: this.#onReady, onclose: this.#onClose } satisfies Partial<Connection>)
      this.#isFull = false
      // Sent before the empty statement is answered: otherwise the driver would give the connection back to the pool.
      void begin.execute()
    }
    try {
      while (!this.#connection) await this.#take(onexecute)
      await begin
    } catch (error) {
      throw undone(error)
    }
  }

  async #take(onexecute: (connection: Connection) => void): Promise<void> {
    const empty = this.#pool.unsafe('', [], { onexecute } as postgres.UnsafeQueryOptions)
    this.#watch(empty as unknown as Query)
    await empty
  }

  /** After a failed statement Postgres can only roll back, even if `work` went on. */
  requireNoFault(): void {
    if (this.#fault) throw this.#fault.error
  }

  /** The error because of which Postgres refused further statements, if this one is such a refusal. */
  causeOf(error: unknown): unknown {
    const isRefusal = error instanceof Error && 'code' in error && error.code === '25P02'
    return isRefusal && this.#fault ? this.#fault.error : error
  }

  /** If the connection has closed, Postgres has rolled back by itself. */
  async rollBack(): Promise<void> {
    await this.#end('rollback').catch(() => undefined)
  }

  async commit(): Promise<void> {
    if (!this.#isHeld()) throw undone(connectionClosed())
    const { command } = await this.#end('commit').catch((error: unknown) => {
      throw wasRolledBack(error) ? undone(error) : error
    })
    // Postgres rolls back if a statement that `work` did not wait for has failed in the meantime.
    if (command !== 'COMMIT') throw undone(this.#fault?.error ?? connectionClosed())
  }

  /** When it reads the answer, the driver gives the connection back to the pool. */
  async #end(statement: 'commit' | 'rollback'): Promise<{ command: string }> {
    this.#isEnding = true
    const query = this.#pool.unsafe(statement)
    this.#bind(query as unknown as Query, () => true)
    return await query
  }

  /** Whether the connection is open and has not ended the transaction. */
  #isHeld(): boolean {
    return this.#connection?.reserved === this.#onReady
  }

  /** Runs the query on the connection of this transaction, or nowhere. */
  #bind(query: Query, isInTime: () => boolean): void {
    query.handler = () => {
      this.#watch(query)
      if (!this.#isHeld() || !isInTime()) query.reject(connectionClosed())
      else if (this.#isFull) this.#waiting.push(query)
      else this.#isFull = !this.#connection?.execute(query)
    }
  }

  #watch(query: Query): void {
    this.#unsettled.add(query)
    const settled = query as unknown as Promise<unknown>
    settled.then(
      () => this.#unsettled.delete(query),
      (error: unknown) => {
        this.#unsettled.delete(query)
        this.#fault ??= { error }
      },
    )
  }

  readonly #onReady = (): void => {
    const next = this.#waiting.shift()
    if (next) this.#connection?.execute(next)
    else this.#isFull = false
  }

  /** The driver forgets some queries of a connection that closes. */
  readonly #onClose = (): void => {
    for (const query of this.#unsettled) query.reject(connectionClosed())
    this.#close(connectionClosed())
  }
}
