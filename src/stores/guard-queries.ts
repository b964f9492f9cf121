/**
 * Keeps what came of one query from the next. postgres.js 3.4.9 leaves three things behind on a connection:
 * - the error with which Postgres ended it under a query. Once it is open again, the next query is rejected with that
 *   error before it is sent (porsager/postgres#1223).
 * - the number of rows that came before a query failed. The next result begins with as many holes (#1181).
 * - queries, where there is TLS (see open-socket.ts): between the error of a broken socket and its end the connection takes
 *   more of them, sends none and forgets them. They would never settle, or be told of no rows once it is open again.
 *
 * Queries of transactions and reserved connections, and those of `unsafe`, go round this guard.
 */
import postgres from 'postgres'

/** A connection as the driver knows it; Postgres gives each session a secret of its own, some poolers all the same. */
interface Session {
  secret: number | null
}

/** Of a postgres.js query, what the driver itself calls. */
interface Query {
  /** The session that it was handed to; null until then. */
  state: Session | null
  /** Has it run by any connection. */
  handler(query: Query): void
  /** With the rows, or with what it was asked for instead of them. */
  resolve(result: unknown): void
  reject(error: unknown): void
}

/** The same, with every query of its own guarded. */
export function guardQueries(sql: postgres.Sql): postgres.Sql {
  return new Proxy(sql, {
    apply(target, self, args) {
      const made: unknown = Reflect.apply(target, self, args)
      if (made instanceof Promise) guardQuery(made as unknown as Query)
      return made
    },
  })
}

/** Those whose socket broke just now: it ends within some 10 ms, and the next is opened 300 ms after (postgres.ts). */
const broken = new WeakSet<Session>()
const BROKEN_MS = 200
const AGAIN_MS = 50

function guardQuery(query: Query): void {
  const { resolve, reject } = query
  let session: Session | null = null
  let secret: number | null = null
  Object.defineProperty(query, 'state', {
    get: () => session,
    set(handedTo: Session | null) {
      if (handedTo && broken.has(handedTo)) {
        setTimeout(() => query.handler(query), AGAIN_MS)
        throw connectionClosed()
      }
      session = handedTo
      secret = handedTo?.secret ?? null
    },
  })
  query.resolve = (result) =>
    session && session.secret !== secret ? reject(connectionClosed()) : resolve(withoutHoles(result))
  query.reject = (error) => {
    if (isOfAnother(query, error)) return query.handler(query)
    if (session && isOfSocket(error)) markBroken(session)
    reject(error)
  }
}

function markBroken(session: Session): void {
  broken.add(session)
  setTimeout(() => broken.delete(session), BROKEN_MS)
}

/** As the driver tells it. */
const connectionClosed = (): Error =>
  Object.assign(new Error('write CONNECTION_CLOSED'), { code: 'CONNECTION_CLOSED', errno: 'CONNECTION_CLOSED' })

const isOfSocket = (error: unknown): boolean => error instanceof Error && 'syscall' in error

/**
 * An error with the text of a query, while this one has never left: it may be sent, and cannot run twice. The connection
 * that told it has forgotten it by that, so this comes to an end. A refused log-in bears no text.
 */
const isOfAnother = ({ state }: Query, error: unknown): boolean =>
  state === null && error instanceof postgres.PostgresError && (error.query as string | undefined) !== undefined

function withoutHoles(result: unknown): unknown {
  if (!Array.isArray(result)) return result
  const first = result.findIndex((_, at) => at in result)
  if (first > 0) result.splice(0, first)
  return result
}
