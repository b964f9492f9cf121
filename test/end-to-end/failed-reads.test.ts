// @long
/** How the embedded ClickHouse handles failed reads of its files. Its engine treats them as the end of the file. */
import { renameSync, symlinkSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ClickHouseClient } from '../../src/stores/clickhouse.ts'
import { type KeptClickHouse, findTable, keepClickHouse } from './keep-clickhouse.ts'
import { PATIENCE_MS } from '../support/at-load.ts'

const ALL = { rows: 20_000, sum: 199_990_000 }
const UNREADABLE = { code: '74', type: 'CANNOT_READ_FROM_FILE_DESCRIPTOR' }

describe.runIf(process.platform === 'linux')('a read that failed', () => {
  let engine: KeptClickHouse
  let client: ClickHouseClient
  let table: string

  beforeEach(async () => {
    engine = await keepClickHouse()
    client = engine.client
    await createTable('')
  })
  afterEach(async () => await engine?.close())

  async function createTable(setting: string): Promise<void> {
    await client.command({ query: 'drop table if exists t sync' })
    await client.command({
      query: `create table t (k UInt64, n UInt64) engine = ReplacingMergeTree order by k
        settings non_replicated_deduplication_window = 100, old_parts_lifetime = 480 ${setting}`,
    })
    for (const first of [0, 10_000]) await insert(first)
    table = await findTable(engine.folder)
  }

  const insert = (first: number) =>
    client.command({
      query: `insert into t settings insert_deduplication_token = 'from ${first}'
        select number, number from numbers(${first}, 10000)`,
    })

  /**
   * At the addresses where the bytes of a file would be, a process has no memory, so reads fail with EIO. Returns a
   * function that repairs the file.
   */
  function breakFile(path: string): () => void {
    const file = join(table, path)
    renameSync(file, `${file}.away`)
    symlinkSync('/proc/self/mem', file)
    return () => renameSync(`${file}.away`, file)
  }

  async function held(): Promise<unknown> {
    const query = 'select count(k) as rows, sum(n) as sum from t'
    const settings = { output_format_json_quote_64bit_integers: 0 } as const
    const result = await client.query({ query, format: 'JSONEachRow', clickhouse_settings: settings })
    return (await result.json())[0]
  }

  it('fails the query that it was for, and nothing after it', async () => {
    await client.command({ query: 'system stop merges t' })
    const mend = breakFile('all_1_1_1/data.bin')
    await expect(held()).rejects.toMatchObject(UNREADABLE)
    await insert(20_000)
    await expect(held()).rejects.toMatchObject(UNREADABLE)
    mend()
    expect(await held()).toEqual({ rows: 30_000, sum: 449_985_000 })
    expect(engine.ends).toEqual([])
  })

  it('fails a query of parts that keep each column by itself, as they had been kept', async () => {
    await createTable(', min_bytes_for_wide_part = 0')
    const mend = breakFile('all_1_1_1/n.bin')
    await expect(held()).rejects.toMatchObject(UNREADABLE)
    mend()
    expect(await held()).toEqual(ALL)
  })

  it('would be found in parts of any size: all columns are in one file', async () => {
    await client.command({ query: 'insert into t select number, number from numbers(2000000)' })
    const query = "select uniq(part_type) as kinds, any(part_type) as kind from system.parts where table = 't'"
    const result = await client.query({ query, format: 'JSONEachRow' })
    expect(await result.json()).toEqual([{ kinds: '1', kind: 'Compact' }])
  })

  it('leaves no part behind that was merged from it', async () => {
    const mend = breakFile('all_1_1_1/data.bin')
    const merged = client.command({ query: 'optimize table t final' })
    await expect(merged).rejects.toMatchObject(UNREADABLE)
    await expect(merged).rejects.toThrow(/Input\/output error, in .*all_1_1_1/)
    mend()
    expect(await held()).toEqual(ALL)
    await client.command({ query: 'optimize table t final' })
    expect(await held()).toEqual(ALL)
  })

  it('leaves no mutation half done', async () => {
    const mend = breakFile('all_1_1_1/data.bin')
    const query = 'alter table t delete where n < 5000 settings mutations_sync = 2'
    await expect(client.command({ query })).rejects.toMatchObject(UNREADABLE)
    mend()
    await vi.waitFor(async () => expect(await held()).toEqual({ rows: 15_000, sum: 187_492_500 }), {
      timeout: PATIENCE_MS,
    })
  })

  it.each([
    ['', []],
    [', also where one of its name was set aside before', ['broken-on-start_all_1_1_1']],
  ])('at the start loses neither the part nor its token: it starts when the file can be read%s', async (_, aside) => {
    for (const name of aside) await mkdir(join(table, 'detached', name))
    let mend = (): void => undefined
    engine.whenEnded = () => {
      engine.whenEnded = () => mend()
      mend = breakFile('all_1_1_1/checksums.txt')
    }
    process.kill(await engine.pid(), 'SIGKILL')
    await vi.waitUntil(() => engine.ends.length > 1, { timeout: PATIENCE_MS })
    await engine.untilUp()
    expect(await held()).toEqual(ALL)
    await client.command({ query: 'optimize table t final' })
    for (const first of [0, 10_000]) await insert(first)
    expect(await held()).toEqual(ALL)
    expect(await readdir(join(table, 'detached'))).toEqual(aside)
  })

  it.each(['[]', '[', undefined])('at a start that was killed lost nothing: %s', async (note) => {
    await engine.restart(async () => {
      renameSync(join(table, 'all_1_1_1'), join(table, 'detached/broken-on-start_all_1_1_1'))
      if (note !== undefined) await writeFile(join(engine.folder, 'opening.json'), note)
    })
    // Only a complete note shows that this start had set the part aside.
    expect(await held()).toEqual(note === '[]' ? ALL : { rows: 10_000, sum: 149_995_000 })
    expect(await readdir(engine.folder)).not.toContain('opening.json')
  })
})

describe.runIf(process.platform === 'linux')('an embedded ClickHouse', () => {
  it.each([resolve('node_modules/.bin/node'), `${resolve('node_modules/.bin/deno')} run -A`, process.execPath])(
    'that crashes ends at once and is started again: %s',
    async (command) => {
      const runtime = command.split(' ')
      const engine = await keepClickHouse({ runtime })
      try {
        process.kill(await engine.pid(), 'SIGSEGV')
        await vi.waitUntil(() => engine.ends.length > 0, { timeout: PATIENCE_MS })
        await engine.untilUp()
      } finally {
        await engine.close()
      }
    },
  )

  it('takes no settings from the user’s home', async () => {
    const home = await mkdtemp(join(tmpdir(), 'sluice-home-'))
    await mkdir(join(home, '.clickhouse-local'))
    const setting = '<clickhouse><merge_tree><old_parts_lifetime>77</old_parts_lifetime></merge_tree></clickhouse>'
    await writeFile(join(home, '.clickhouse-local/config.xml'), setting)
    const engine = await keepClickHouse({ before: ['env', `HOME=${home}`] })
    try {
      const query = "select value from system.merge_tree_settings where name = 'old_parts_lifetime'"
      const result = await engine.client.query({ query, format: 'JSONEachRow' })
      expect(await result.json()).not.toEqual([{ value: '77' }])
    } finally {
      await engine.close()
      await rm(home, { recursive: true })
    }
  })
})
