/**
 * Keeps what came of one query from the next. postgres.js 3.4.9 leaves two things behind on a connection:
 * - the error with which Postgres ended it under a query. Once it is open again, the next query is rejected with that
 *   error before it is sent (porsager/postgres#1223).
 * - the number of rows that came before a query failed. The next result begins with as many holes (#1181).
 *
 * Queries of transactions and reserved connections, and those of `unsafe`, go round this guard.
 */
import postgres from 'postgres'

/** Of a postgres.js query, what the driver itself calls. */
interface Query {
  /** The session that it was handed to; null until then. */
  state: object | null
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

function guardQuery(query: Query): void {
  const { resolve, reject } = query
  query.resolve = (result) => resolve(withoutHoles(result))
  query.reject = (error) => (isOfAnother(query, error) ? query.handler(query) : reject(error))
}

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
