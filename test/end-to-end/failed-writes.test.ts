// @long
/** How the embedded ClickHouse handles failed writes to its files. Its engine ignores them. */
import { appendFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { MIN_FREE_BYTES, requireFreeSpace } from '../../src/embedded/clickhouse/clickhouse-disk.ts'
import { needsDiskSpace, readFault } from '../../src/embedded/clickhouse/clickhouse-statement.ts'
import type { ClickHouseClient } from '../../src/stores/clickhouse.ts'
import { isFullDiskError } from '../../src/stores/full-disk.ts'
import { CUT_OFF, type KeptClickHouse, findTable, keepClickHouse } from './keep-clickhouse.ts'
import { PATIENCE_MS } from '../support/at-load.ts'

/**
 * While a file `limited` exists, no file may grow beyond 1 MiB: writes fail, as on a full disk, which only root could
 * create.
 */
const LIMIT = `trap '' XFSZ; test -e limited && ulimit -f 2048; exec "$@"`
/** In the format of the engine. */
const MUTATION = 'format version: 1\ncreate time: 2026-11-23 03:31:07\ncommands: (DELETE WHERE n < 5)\n'

describe.runIf(process.platform === 'linux')('a write that failed', () => {
  let engine: KeptClickHouse
  let client: ClickHouseClient
  let folder: string

  beforeEach(async () => {
    engine = await keepClickHouse({ before: ['/bin/sh', '-c', LIMIT, 'limit'] })
    ;({ client, folder } = engine)
    await client.command({
      query: `create table t (n UInt64, text String) engine = MergeTree order by n
        settings non_replicated_deduplication_window = 100, old_parts_lifetime = 480`,
    })
  })
  afterEach(async () => await engine?.close())

  const restart = (change: () => Promise<unknown>) => engine.restart(change)
  const untilUp = () => engine.untilUp()
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
    await vi.waitFor(() => insert('large', 20_000), { timeout: PATIENCE_MS })
    expect(engine.ends[0]).toMatch(/writes to files failed: ending/)
    // Its part has the number of the lost one.
    await restart(async () => undefined)
    for (const token of ['small', 'another', 'large']) await insert(token, 20_000)
    expect(await held()).toEqual({ rows: 20_020, letters: 2_002_000 })
  })

  it('forgets the token of an insert that was killed before its part had its name', async () => {
    for (const token of ['one', 'two', 'three']) await insert(token, 10)
    await restart(async () => rm(join(await table(), 'all_3_3_0'), { recursive: true }))
    await restart(async () => rm(join(await table(), 'all_2_2_0'), { recursive: true }))
    for (const token of ['one', 'two', 'three']) await insert(token, 10)
    await restart(async () => undefined)
    for (const token of ['one', 'two', 'three']) await insert(token, 10)
    expect(await held()).toEqual({ rows: 30, letters: 3000 })
  })

  it('forgets the token of a lost insert among many, which are merged at the start', async () => {
    const tokens = Array.from({ length: 40 }, (_, number) => `insert ${number}`)
    await client.command({ query: 'system stop merges t' })
    for (const token of tokens) await insert(token, 10)
    await restart(async () => truncate(join(await table(), 'all_20_20_0', 'data.bin'), 0))
    for (const token of tokens) await insert(token, 10)
    await client.command({ query: 'optimize table t final' })
    await restart(async () => undefined)
    for (const token of tokens) await insert(token, 10)
    expect(await held()).toEqual({ rows: 400, letters: 40_000 })
  })

  it('takes no part away for the larger one that could not be written', async () => {
    await insert('one', 8000)
    await insert('two', 8000)
    await limit()
    await expect(client.command({ query: 'optimize table t final' })).rejects.toThrow(CUT_OFF)
    await untilUp()
    expect(engine.ends[0]).toMatch(/writes to files failed: ending/)
    await restart(() => rm(join(folder, 'limited')))
    expect(await held()).toEqual({ rows: 16_000, letters: 1_600_000 })
    for (const token of ['one', 'two']) await insert(token, 8000)
    await client.command({ query: 'optimize table t final' })
    expect(await held()).toEqual({ rows: 16_000, letters: 1_600_000 })
  })

  const table = () => findTable(folder)

  it.each(['', 'format version: 1\ncreate time: 2026-11-23 03:31:07\ncommands: (DELETE WHE'])(
    'leaves no mutation that keeps the tables from being opened: %j',
    async (written) => {
      await insert('one', 10)
      await restart(async () => await writeFile(join(await table(), 'mutation_2.txt'), written))
      expect(await held()).toEqual({ rows: 10, letters: 1000 })
    },
  )

  it('leaves a mutation that is whole', async () => {
    await insert('one', 10)
    await client.command({ query: 'alter table t delete where n < 4 settings mutations_sync = 2' })
    await insert('two', 10)
    await restart(async () => {
      await writeFile(join(await table(), 'mutation_9.txt'), MUTATION)
    })
    await vi.waitFor(async () => expect(await held()).toEqual({ rows: 10, letters: 1000 }), { timeout: PATIENCE_MS })
  })

  it('leaves no half line behind which tokens cannot be read', async () => {
    await insert('one', 10)
    await restart(async () =>
      appendFile(join(await table(), 'deduplication_logs', 'deduplication_log_1.txt'), '1\tall_9'),
    )
    await insert('two', 10)
    await restart(async () => undefined)
    for (const token of ['one', 'two']) await insert(token, 10)
    expect(await held()).toEqual({ rows: 20, letters: 2000 })
  })

  it('leaves no part so large that the tables are not opened without it', async () => {
    await insert('one', 10)
    await insert('two', 10)
    await restart(async () => {
      const part = join(await table(), 'all_2_2_0')
      await truncate(join(part, 'checksums.txt'), 0)
      await truncate(join(part, 'data.bin'), 2 ** 31)
    })
    expect(await held()).toEqual({ rows: 10, letters: 1000 })
    await insert('two', 10)
    expect(await held()).toEqual({ rows: 20, letters: 2000 })
  })
})

describe.runIf(process.platform === 'linux')('a disk that is nearly full', () => {
  it('takes no change, and is reported as full', async () => {
    const refused = await requireFreeSpace(tmpdir(), Infinity).catch((error: unknown) => error)
    expect(readFault(refused)).toMatchObject({ status: 500, code: '243' })
    expect(isFullDiskError(refused)).toBe(true)
    // This filesystem has no free space: enough for 0 bytes, and not for one more.
    await requireFreeSpace('/proc', 0)
    await expect(requireFreeSpace('/proc', 1)).rejects.toThrow('NOT_ENOUGH_SPACE')
    expect(MIN_FREE_BYTES).toBe(32 * 1024 * 1024)
  })

  const growing = (statement: string) => needsDiskSpace(Buffer.from(statement))

  it.each([
    'insert into t values (1)',
    '  -- why\n/* and how */ ALTER TABLE t DELETE WHERE 1',
    'CREATE TABLE t (n Int8) ENGINE = Log',
    'Delete from t where n = 1',
    'optimize table t',
  ])('has no room for: %s', (statement) => expect(growing(statement)).toBe(true))

  it.each(['drop table t', 'truncate t', 'inserted', 'select 1', '-- why\nSHOW create table t', ''])(
    'has room for: %s',
    (statement) => expect(growing(statement)).toBe(false),
  )
})
