/**
 * Prevents one query's leftovers from affecting the next. postgres.js 3.4.9 leaves three things behind on a connection:
 * - The error with which Postgres closed the connection during a query. After reconnecting, the driver rejects the next
 *   query with that error before sending it (porsager/postgres#1223).
 * - The number of rows that arrived before a query failed. The next result begins with that number of holes (#1181).
 * - With TLS (see open-socket.ts), queries: between the error of a broken socket and its end, the connection accepts
 *   more queries and loses them unsent. They would never settle, or would return no rows after reconnecting.
 *
 * Queries of transactions are made by the same object (transaction.ts).
 */
import postgres from 'postgres'
import { noteAnswer, noteFailure } from './connection-health.ts'

/**
 * A connection of the driver. Postgres gives each session its own secret; some poolers give all sessions the same one.
 */
interface Session {
  secret: number | null
}

/** The part of a postgres.js query that the driver calls. */
export interface Query {
  /** The session to which the query was assigned; null before that. */
  state: Session | null
  /** Runs the query on any connection. */
  handler(query: Query): void
  /** Called with the rows, or with another kind of result if the caller requested one. */
  resolve(result: unknown): void
  reject(error: unknown): void
}

/** Returns `sql` with guards around its queries. `name`: the pool, whose answers and failures are noted. */
export const guardQueries = (sql: postgres.Sql, name: string): postgres.Sql =>
  onEachQuery(sql, (query) => guardQuery(query, name))

/** Returns an object like `sql` that passes each new query to `act` before it can run. */
export function onEachQuery(sql: postgres.Sql, act: (query: Query) => void): postgres.Sql {
  const passOn = (made: unknown): unknown => {
    if (made instanceof Promise) act(made as unknown as Query)
    return made
  }
  const unsafe = (...args: Parameters<postgres.Sql['unsafe']>) => passOn(sql.unsafe(...args))
  return new Proxy(sql, {
    apply: (target, self, args) => passOn(Reflect.apply(target, self, args)),
    get: (target, key): unknown => (key === 'unsafe' ? unsafe : Reflect.get(target, key)),
  })
}

/**
 * Sessions whose socket just broke. The socket ends within about 10 ms, and the next one is opened 300 ms later
 * (postgres.ts).
 */
const broken = new WeakSet<Session>()
const BROKEN_MS = 200
const RETRY_MS = 50

function guardQuery(query: Query, name: string): void {
  const { resolve, reject } = query
  let session: Session | null = null
  let secret: number | null = null
  Object.defineProperty(query, 'state', {
    get: () => session,
    set(next: Session | null) {
      if (next && broken.has(next)) {
        setTimeout(() => query.handler(query), RETRY_MS)
        throw connectionClosed()
      }
      session = next
      secret = next?.secret ?? null
    },
  })
  query.resolve = (result) => {
    if (session && session.secret !== secret) return reject(connectionClosed())
    noteAnswer(name)
    resolve(withoutHoles(result))
  }
  query.reject = (error) => {
    if (isErrorOfOtherQuery(query, error)) return query.handler(query)
    if (session && isSocketError(error)) markBroken(session)
    noteFailure(name, error)
    reject(error)
  }
}

function markBroken(session: Session): void {
  broken.add(session)
  setTimeout(() => broken.delete(session), BROKEN_MS)
}

/** The same error as the driver's. */
export const connectionClosed = (): Error =>
  Object.assign(new Error('write CONNECTION_CLOSED'), { code: 'CONNECTION_CLOSED', errno: 'CONNECTION_CLOSED' })

const isSocketError = (error: unknown): boolean => error instanceof Error && 'syscall' in error

/**
 * Whether the error has the text of a query although this query was never sent: then it belongs to another query, and
 * this one can be sent without running twice. Reporting the error removed it from the connection, so this cannot repeat
 * forever. The error of a rejected login has no text.
 */
const isErrorOfOtherQuery = ({ state }: Query, error: unknown): boolean =>
  state === null && error instanceof postgres.PostgresError && (error.query as string | undefined) !== undefined

function withoutHoles(result: unknown): unknown {
  if (!Array.isArray(result)) return result
  const first = result.findIndex((_, at) => at in result)
  if (first > 0) result.splice(0, first)
  return result
}
