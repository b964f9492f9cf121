/** What the embedded ClickHouse makes of reads of its files that fail: its engine takes them for the end of the file. */
import { mkdirSync, renameSync, rmdirSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { noteSuspects, undoMerges } from '../../src/embedded/undo-merges.ts'
import type { ClickHouseClient } from '../../src/stores/clickhouse.ts'
import { CUT_OFF, type KeptClickHouse, findTable, keepClickHouse } from './keep-clickhouse.ts'

const ALL = { rows: 20_000, sum: 199_990_000 }

describe.runIf(process.platform === 'linux')('a read that failed', { timeout: 60_000 }, () => {
  let engine: KeptClickHouse
  let client: ClickHouseClient
  let table: string

  beforeEach(async () => {
    engine = await keepClickHouse()
    client = engine.client
    await client.command({
      query: `create table t (k UInt64, n UInt64) engine = MergeTree order by k
        settings non_replicated_deduplication_window = 100, old_parts_lifetime = 480, min_bytes_for_wide_part = 0`,
    })
    for (const first of [0, 10_000]) await insert(first)
    table = await findTable(engine.folder)
  })
  afterEach(async () => await engine?.close())

  const insert = (first: number) =>
    client.command({
      query: `insert into t settings insert_deduplication_token = 'from ${first}'
        select number, number from numbers(${first}, 10000)`,
    })

  /** A directory can be opened like a file, but not read. Returns what makes it a file again. */
  function breakFile(path: string): () => void {
    const file = join(table, path)
    renameSync(file, `${file}.away`)
    mkdirSync(file)
    return () => {
      rmdirSync(file)
      renameSync(`${file}.away`, file)
    }
  }

  async function held(): Promise<unknown> {
    const query = 'select count(k) as rows, sum(n) as sum from t'
    const settings = { output_format_json_quote_64bit_integers: 0 } as const
    const result = await client.query({ query, format: 'JSONEachRow', clickhouse_settings: settings })
    return (await result.json())[0]
  }

  it('fails the query that it was for, and nothing after it', async () => {
    const mend = breakFile('all_1_1_0/n.bin')
    await expect(held()).rejects.toMatchObject({ code: '74', type: 'CANNOT_READ_FROM_FILE_DESCRIPTOR' })
    await insert(20_000)
    mend()
    expect(await held()).toEqual({ rows: 30_000, sum: 449_985_000 })
    expect(engine.ends).toEqual([])
  })

  it('leaves no part behind that was merged from it', async () => {
    engine.whenEnded = breakFile('all_1_1_0/n.bin')
    await expect(client.command({ query: 'optimize table t final' })).rejects.toThrow(CUT_OFF)
    await engine.untilUp()
    expect(engine.ends[0]).toMatch(/reads of files failed beside a merge/)
    expect(await held()).toEqual(ALL)
    expect(await readdir(join(table, 'detached'))).toEqual([expect.stringMatching(/^suspect_all_1_2_1_/)])
    for (const first of [0, 10_000]) await insert(first)
    await client.command({ query: 'optimize table t final' })
    expect(await held()).toEqual(ALL)
  })

  it('leaves no mutation half done: it is done again', async () => {
    engine.whenEnded = breakFile('all_1_1_0/n.bin')
    const query = 'alter table t delete where n < 5000 settings mutations_sync = 2'
    await expect(client.command({ query })).rejects.toThrow(CUT_OFF)
    await engine.untilUp()
    await vi.waitFor(async () => expect(await held()).toEqual({ rows: 15_000, sum: 187_492_500 }), { timeout: 30_000 })
  })

  it('keeps the engine from starting without its tokens', async () => {
    const log = 'deduplication_logs/deduplication_log_1.txt'
    let mend = (): void => undefined
    const pid = await engine.pid()
    engine.whenEnded = () => {
      engine.whenEnded = () => mend()
      mend = breakFile(log)
    }
    process.kill(pid, 'SIGKILL')
    await vi.waitUntil(() => engine.ends.length > 1, { timeout: 30_000 })
    await engine.untilUp()
    for (const first of [0, 10_000]) await insert(first)
    expect(await held()).toEqual(ALL)
  })
})

describe('merges beside which reads failed', () => {
  const SINCE = 1_700_000_000_000
  let folder: string
  let table: string

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-merges-'))
    table = join(folder, 'store/abc/abcd')
    await mkdir(table, { recursive: true })
    await writeFile(join(table, 'format_version.txt'), '1')
  })
  afterEach(async () => await rm(folder, { recursive: true, force: true }))

  /** `late`: made after all was well for the last time. */
  async function part(name: string, rows: number, late = false): Promise<void> {
    await mkdir(join(table, name))
    await writeFile(join(table, name, 'count.txt'), String(rows))
    const made = (SINCE + (late ? 0 : -1)) / 1000
    await utimes(join(table, name), made, made)
  }
  async function left(): Promise<string[]> {
    noteSuspects(folder, SINCE)
    await undoMerges(folder)
    return (await readdir(table)).filter((name) => /_\d+$/.test(name)).toSorted()
  }

  it.each([
    ['a merge', ['all_1_1_0', 'all_2_2_0'], 'all_1_2_1', 20],
    ['a merge that left out what was double', ['all_1_1_0', 'all_2_2_0'], 'all_1_2_1', 15],
    ['a mutation', ['all_1_2_0'], 'all_1_2_0_7', 5],
    ['a mutation of a mutated part', ['202611_1_2_0_3'], '202611_1_2_0_7', 10],
  ])('are undone: %s', async (_, before, made, rows) => {
    for (const name of before) await part(name, 10)
    await part(made, rows, true)
    expect(await left()).toEqual(before)
    expect(await readdir(join(table, 'detached'))).toEqual([expect.stringMatching(`^suspect_${made}_`)])
  })

  it('are undone with those of what they had made, down to what was there', async () => {
    for (const name of ['all_1_2_1', 'all_1_1_0', 'all_2_2_0', 'all_3_3_0', 'all_4_4_0', 'all_5_5_0'])
      await part(name, 10)
    await part('all_3_4_1', 20, true)
    await part('all_1_4_2', 30, true)
    await part('all_6_6_0', 10, true)
    expect(await left()).toEqual([
      'all_1_1_0',
      'all_1_2_1',
      'all_2_2_0',
      'all_3_3_0',
      'all_4_4_0',
      'all_5_5_0',
      'all_6_6_0',
    ])
  })

  it.each([
    ['what they replaced is gone', ['all_3_3_0'], 'all_1_2_1'],
    ['some of it is gone', ['all_1_1_0'], 'all_1_2_1'],
    ['it is of another partition', ['202610_1_2_1'], '202611_1_2_1'],
  ])('stay when %s', async (_, others, made) => {
    for (const name of others) await part(name, 10)
    await part(made, 20, true)
    expect(await left()).toEqual([...others, made].toSorted())
  })

  it('stay when they were made before, or nothing had failed', async () => {
    for (const name of ['all_1_1_0', 'all_2_2_0']) await part(name, 10)
    await part('all_1_2_1', 20)
    expect(await left()).toContain('all_1_2_1')
    await part('all_1_2_2', 20, true)
    await undoMerges(folder)
    expect(await readdir(table)).toContain('all_1_2_2')
  })
})

describe.runIf(process.platform === 'linux')('an embedded ClickHouse', { timeout: 60_000 }, () => {
  it.each(['node', `${resolve('node_modules/.bin/deno')} run -A`, process.execPath])(
    'that crashes ends at once and is started again: %s',
    async (command) => {
      const runtime = command.split(' ')
      const engine = await keepClickHouse({ runtime })
      try {
        process.kill(await engine.pid(), 'SIGSEGV')
        await vi.waitUntil(() => engine.ends.length > 0, { timeout: 10_000 })
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
