/**
 * ClickHouse's HTTP interface for npm `chdb`, which has no server. Runs as a separate process that owns its working
 * directory, started as `clickhouse-server.ts --port=N --user=NAME --password-file=FILE --analyst-password-file=FILE
 * --database=NAME [--no-sync] [--no-watch]`.
 *
 * Every request gets its own connection (0.1 ms), so that settings, parameters and the database apply only to it. The
 * data of an INSERT goes through a file, because chdb takes an empty line in a statement's text for the end of the
 * data.
 */
import { createHash, randomUUID, timingSafeEqual } from 'node:crypto'
import { createWriteStream, readFileSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { createBrotliDecompress, createGunzip, createInflate, gzipSync } from 'node:zlib'
import { type ChdbResult, Session } from 'chdb'
import { ANALYST, LIMITS } from './analyst-role.ts'
import { queryAsAnalyst } from './query-as-analyst.ts'
import { stopWhenClosed } from './stop-when-closed.ts'
import { requireFreeSpace, syncTables } from './clickhouse-disk.ts'
import {
  type Insert,
  needsDiskSpace,
  isStoppedWhenClosed,
  sessionStatements,
  readFault,
  readInsert,
} from './clickhouse-statement.ts'
import { endOnCrash } from './end-on-crash.ts'
import { checkStatement } from './check-statement.ts'
import { openTables } from './open-tables.ts'
import { type FileWatch, UNWATCHED, watchFiles } from './watch-files.ts'

interface Server {
  folder: string
  /** SHA-256 of `user:password`. */
  credentials: Buffer
  /** SHA-256 for the user `analyst`; undefined when there is no such user. */
  analyst: Buffer | undefined
  database: string
  files: FileWatch
  /** Whether an acknowledged mutation must survive a power cut. */
  syncs: boolean
}

const INCOMING = 'incoming'

const sha256 = (value: string): Buffer => createHash('sha256').update(value).digest()

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '8123' },
      user: { type: 'string', default: 'default' },
      'password-file': { type: 'string', default: '' },
      'analyst-password-file': { type: 'string' },
      database: { type: 'string', default: 'default' },
      'no-sync': { type: 'boolean', default: false },
      'no-watch': { type: 'boolean', default: false },
    },
  })
  const readPassword = (file: string) => readFileSync(file, 'utf8').trim()
  const password = readPassword(values['password-file'])
  const analystFile = values['analyst-password-file']
  const folder = process.cwd()
  await rm(INCOMING, { recursive: true, force: true })
  await mkdir(INCOMING)
  const keeper = await openTables(folder, values.database)
  endOnCrash()
  await keeper.queryAsync(`CREATE DATABASE IF NOT EXISTS \`${values.database}\``)
  const server = {
    folder,
    credentials: sha256(`${values.user}:${password}`),
    analyst: analystFile === undefined ? undefined : sha256(`${ANALYST}:${readPassword(analystFile)}`),
    database: values.database,
    files: values['no-watch'] ? UNWATCHED : await watchFiles(keeper),
    syncs: !values['no-sync'],
  }
  const http = createServer((request, response) => void answer(server, request, response))
  http.keepAliveTimeout = 60_000
  http.listen(Number(values.port), '127.0.0.1')
  process.on('SIGTERM', () => {
    http.closeIdleConnections()
    http.close(() => process.exit(0))
    setInterval(() => http.closeIdleConnections(), 50)
  })
}

async function answer(server: Server, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const url = new URL(request.url ?? '/', 'http://localhost')
    if (url.pathname === '/ping') return void response.end('Ok.\n')
    response.setHeader('X-ClickHouse-Query-Id', url.searchParams.get('query_id') ?? randomUUID())
    const who = checkCredentials(server, request, url.searchParams)
    await (who === 'analyst' ? answerAnalyst : answerQuery)(server, request, response, url.searchParams)
  } catch (error) {
    const fault = readFault(error)
    response.statusCode = fault.status
    response.setHeader('X-ClickHouse-Exception-Code', fault.code)
    response.setHeader('Content-Type', 'text/plain; charset=UTF-8')
    response.end(`${fault.text}\n`)
    request.resume()
  }
}

/** Accepts Basic authentication, the two headers, or the two URL parameters, like ClickHouse. */
function checkCredentials(server: Server, request: IncomingMessage, query: URLSearchParams): 'owner' | 'analyst' {
  const { authorization } = request.headers
  const given = authorization?.startsWith('Basic ')
    ? Buffer.from(authorization.slice(6), 'base64').toString()
    : `${header(request, 'x-clickhouse-user') ?? query.get('user') ?? 'default'}:${header(request, 'x-clickhouse-key') ?? query.get('password') ?? ''}`
  if (timingSafeEqual(sha256(given), server.credentials)) return 'owner'
  if (server.analyst && timingSafeEqual(sha256(given), server.analyst)) return 'analyst'
  throw new Error(
    `Code: 516. DB::Exception: ${given.split(':')[0]}: Authentication failed: password is incorrect, or there is no user with such name. (AUTHENTICATION_FAILED)`,
  )
}

const header = (request: IncomingMessage, name: string): string | undefined => request.headers[name]?.toString()

async function answerQuery(
  server: Server,
  request: IncomingMessage,
  response: ServerResponse,
  query: URLSearchParams,
): Promise<void> {
  const session = new Session(server.folder)
  const stop = isStoppedWhenClosed(request.method, query)
    ? stopWhenClosed(response, server.folder, query.get('log_comment') ?? '')
    : undefined
  try {
    const database = header(request, 'x-clickhouse-database') ?? query.get('database') ?? server.database
    if (stop) query.set('log_comment', stop.mark)
    for (const statement of sessionStatements(request.method, query, database)) await session.queryAsync(statement)
    const format = header(request, 'x-clickhouse-format') ?? query.get('default_format') ?? 'TabSeparated'
    const body = decoded(request)
    const queryParameter = query.get('query')
    const statement = queryParameter === null ? await buffer(body) : Buffer.from(queryParameter)
    const insert = readInsert(statement)
    const isGrowing = needsDiskSpace(statement)
    if (isGrowing) await requireFreeSpace(server.folder)
    const ask = async () => {
      const whole = queryParameter === null ? statement.toString() : `${queryParameter}\n${await text(body)}`
      await checkStatement(server.folder, whole, query)
      stop?.signal.throwIfAborted()
      return await session.queryAsync(whole, { format })
    }
    const run = async () =>
      insert ? await runInsert(session, insert, queryParameter === null ? undefined : body) : await ask()
    const result = await server.files.through(run, { readsTables: !insert })
    if (server.syncs && isGrowing && !insert) await syncTables(server.folder)
    send(request, response, query, result, insert !== undefined)
  } finally {
    stop?.end()
    session.close()
  }
}

async function answerAnalyst(
  server: Server,
  request: IncomingMessage,
  response: ServerResponse,
  query: URLSearchParams,
): Promise<void> {
  const sessions = { check: new Session(server.folder), run: new Session(server.folder) }
  const stop = stopWhenClosed(response, server.folder)
  try {
    const question = {
      mark: stop.mark,
      signal: stop.signal,
      method: request.method,
      contentType: header(request, 'content-type'),
      query,
      database: header(request, 'x-clickhouse-database') ?? query.get('database') ?? undefined,
      format: header(request, 'x-clickhouse-format') ?? query.get('default_format') ?? 'TabSeparated',
      text: async () => await readText(decoded(request), LIMITS.statementBytes),
    }
    const run = async () => await queryAsAnalyst(sessions, server.database, question)
    send(request, response, query, await server.files.through(run, { readsTables: true }), false)
  } finally {
    stop.end()
    for (const session of Object.values(sessions)) session.close()
  }
}

/** Reads at most slightly more than `max` bytes, so that the caller can detect a body that is too long. */
async function readText(body: Readable, max: number): Promise<string> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of body as AsyncIterable<Buffer>) {
    parts.push(part)
    length += part.length
    if (length > max) break
  }
  return Buffer.concat(parts).toString()
}

function decoded(request: IncomingMessage): Readable {
  const encoding = request.headers['content-encoding'] ?? 'identity'
  if (encoding === 'gzip') return request.pipe(createGunzip())
  if (encoding === 'deflate') return request.pipe(createInflate())
  if (encoding === 'br') return request.pipe(createBrotliDecompress())
  if (encoding === 'identity') return request
  throw new Error(`Code: 48. DB::Exception: Content-Encoding ${encoding} is not supported. (NOT_IMPLEMENTED)`)
}

async function runInsert(session: Session, insert: Insert, body: Readable | undefined): Promise<ChdbResult> {
  const path = `${INCOMING}/${randomUUID()}`
  try {
    await writeFile(path, insert.data)
    if (body) await pipeline(body, createWriteStream(path, { flags: 'a' }))
    return await session.queryAsync(`${insert.head} FROM INFILE '${path}' ${insert.tail}`)
  } finally {
    await rm(path, { force: true })
  }
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  query: URLSearchParams,
  result: ChdbResult,
  inserted: boolean,
): void {
  response.setHeader('X-ClickHouse-Summary', summaryOf(result, inserted))
  response.setHeader('Content-Type', 'text/plain; charset=UTF-8')
  const bytes = result.bytes()
  const mayCompress = ['1', 'true'].includes(query.get('enable_http_compression') ?? '')
  if (!mayCompress || !/\bgzip\b/.test(header(request, 'accept-encoding') ?? '')) return void response.end(bytes)
  response.setHeader('Content-Encoding', 'gzip')
  response.end(gzipSync(bytes, { level: 1 }))
}

function summaryOf(result: ChdbResult, inserted: boolean): string {
  const rows = String(result.rowsRead)
  const bytes = String(result.bytesRead)
  return JSON.stringify({
    read_rows: rows,
    read_bytes: bytes,
    written_rows: inserted ? rows : '0',
    written_bytes: inserted ? bytes : '0',
    total_rows_to_read: '0',
    result_rows: inserted ? rows : '0',
    result_bytes: String(result.bytes().length),
    elapsed_ns: String(Math.round(result.elapsed * 1e9)),
  })
}

await main()
