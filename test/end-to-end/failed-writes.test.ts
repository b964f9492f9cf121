/** What the embedded ClickHouse makes of writes to its files that fail: its engine itself takes no notice of them. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { KEPT_FREE_BYTES, requireRoom } from '../../src/embedded/clickhouse-disk.ts'
import { isChange, readFault } from '../../src/embedded/clickhouse-statement.ts'
import { keepRunning, type Kept } from '../../src/embedded/keep-running.ts'
import { freePort, runEngine, runtimeCommand } from '../../src/embedded/run-engine.ts'
import { type ClickHouseClient, connectClickHouse } from '../../src/stores/clickhouse.ts'
import { tellsOfFullDisk } from '../../src/stores/full-disk.ts'

/** While there is a file `limited`, no file may grow beyond 1 MiB: writes fail, as on a full disk, which takes root to make. */
const LIMIT = `trap '' XFSZ; test -e limited && ulimit -f 2048; exec "$@"`
/** Of a connection whose other end has gone. */
const CUT_OFF = /socket|ECONNRESET|hang up|closed/i
const SERVER = new URL('../../src/embedded/clickhouse-server.ts', import.meta.url)

describe.runIf(process.platform === 'linux')('a write that failed', { timeout: 60_000 }, () => {
  let dataDir: string
  let folder: string
  let kept: Kept
  let client: ClickHouseClient
  let ends: string[]

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'sluice-failed-'))
    folder = join(dataDir, 'clickhouse')
    await mkdir(folder)
    await writeFile(join(dataDir, 'password'), 'secret')
    ends = []
    const port = await freePort()
    const options = [`--port=${port}`, '--user=sluice', `--password-file=${join(dataDir, 'password')}`, '--database=d']
    const command = ['/bin/sh', '-c', LIMIT, 'limit', ...runtimeCommand(SERVER, options)]
    const engine = { name: 'clickhouse', dataDir, folder, command, signal: 'TERM' as const }
    const url = `http://sluice:secret@127.0.0.1:${port}/d`
    const start = async () => ({ ...(await runEngine(engine)), url })
    kept = await keepRunning({
      name: 'clickhouse',
      log: { error: (facts) => void ends.push((facts as { lastWords: string }).lastWords) },
      start,
    })
    client = connectClickHouse(url)
    await untilUp()
    await client.command({
      query: `create table t (n UInt64, text String) engine = MergeTree order by n
        settings non_replicated_deduplication_window = 100, old_parts_lifetime = 480`,
    })
  })
  afterEach(async () => {
    await client?.close()
    await kept?.stop()
    await rm(dataDir, { recursive: true, force: true })
  })

  const untilUp = () => vi.waitFor(() => client.command({ query: 'select 1' }), { timeout: 30_000, interval: 50 })

  async function restart(change: () => Promise<void>): Promise<void> {
    const pid = Number(await readFile(join(dataDir, 'clickhouse.pid'), 'utf8'))
    process.kill(pid, 'SIGSTOP')
    await change()
    process.kill(pid, 'SIGKILL')
    await vi.waitUntil(() => ends.length > 0, { timeout: 30_000 })
    ends.length = 0
    await untilUp()
  }

  const limit = () => restart(() => writeFile(join(folder, 'limited'), ''))
  const insert = (token: string, rows: number) =>
    client.command({
      query: `insert into t settings insert_deduplication_token = '${token}'
        select number, randomPrintableASCII(100) from numbers(${rows})`,
    })

  async function held(): Promise<unknown> {
    const query = 'select count() as rows, sum(length(text)) as letters from t'
    const result = await client.query({
      query,
      format: 'JSONEachRow',
      clickhouse_settings: { output_format_json_quote_64bit_integers: 0 },
    })
    return (await result.json())[0]
  }

  it('ends the engine before the insert is answered, which lands once when it is sent again', async () => {
    await insert('small', 10)
    await limit()
    await insert('another', 10)
    await expect(insert('large', 20_000)).rejects.toThrow(CUT_OFF)
    await rm(join(folder, 'limited'))
    await untilUp()
    await vi.waitFor(() => insert('large', 20_000), { timeout: 30_000 })
    for (const token of ['small', 'another', 'large']) await insert(token, 20_000)
    expect(await held()).toEqual({ rows: 20_020, letters: 2_002_000 })
    expect(ends[0]).toMatch(/writes to files failed: ending/)
  })

  it('takes no part away for the larger one that could not be written', async () => {
    await insert('one', 8000)
    await insert('two', 8000)
    await limit()
    await expect(client.command({ query: 'optimize table t final' })).rejects.toThrow(CUT_OFF)
    await untilUp()
    expect(ends[0]).toMatch(/writes to files failed: ending/)
    await restart(() => rm(join(folder, 'limited')))
    expect(await held()).toEqual({ rows: 16_000, letters: 1_600_000 })
    await client.command({ query: 'optimize table t final' })
    expect(await held()).toEqual({ rows: 16_000, letters: 1_600_000 })
  })

  it('leaves no mutation that keeps the tables from being opened', async () => {
    await insert('one', 10)
    await restart(async () => {
      const table = (await readdir(join(folder, 'store'), { recursive: true })).find((path) =>
        path.endsWith('all_1_1_0'),
      )
      await writeFile(join(folder, 'store', table ?? '', '..', 'mutation_2.txt'), '')
    })
    expect(await held()).toEqual({ rows: 10, letters: 1000 })
  })
})

describe('a disk that is nearly full', () => {
  it('takes no change, and is told as full', async () => {
    const refused = await requireRoom(tmpdir(), Infinity).catch((error: unknown) => error)
    expect(readFault(refused)).toMatchObject({ status: 500, code: '243' })
    expect(tellsOfFullDisk(refused)).toBe(true)
    await requireRoom(tmpdir(), 0)
    expect(KEPT_FREE_BYTES).toBe(32 * 1024 * 1024)
  })

  it.each([
    'insert into t values (1)',
    '  -- why\n/* and how */ ALTER TABLE t DELETE WHERE 1',
    'CREATE TABLE t (n Int8) ENGINE = Log',
    'Delete from t where n = 1',
    'optimize table t',
  ])('takes for a change: %s', (statement) => expect(isChange(Buffer.from(statement))).toBe(true))

  it.each([
    'select 1',
    'with 1 as alter select alter',
    'drop table t',
    'truncate t',
    'show create table t',
    'inserted',
    '',
  ])('takes for none: %s', (statement) => expect(isChange(Buffer.from(statement))).toBe(false))
})
