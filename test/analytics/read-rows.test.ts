/** The limits of queries for charts. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { READ_LIMITS, openReader } from '../../src/analytics/read-rows.ts'
import { PROPERTIES } from '../../src/segments/clickhouse/windows-sql.ts'
import { connectClickHouse } from '../../src/stores/clickhouse.ts'
import { PATIENCE_MS, atLoad } from '../support/at-load.ts'
import { openLab } from '../timeline/lab.ts'
import { useOpened } from '../support/use-opened.ts'

const lab = useOpened(openLab)

const MIB = 1024 ** 2
const open = (limits = READ_LIMITS, signal?: AbortSignal) => openReader({ ...lab, ...(signal && { signal }) }, limits)
const SLEEPY = 'select sum(sleepEachRow(0.1)) from numbers(200) settings max_block_size = 1'

const THREADS = `select getSetting('max_threads') as threads`

it('a query has the settings of charts', async () => {
  const rows = await open()(`${THREADS}, getSetting('max_memory_usage') as bytes, {x: String} as text`, { x: "it's" })
  expect(rows).toEqual([{ threads: 2, bytes: 512 * MIB, text: "it's" }])
})

it('a query on properties tests its conditions in the order in which they are written', async () => {
  const reorders = `select getSetting('allow_reorder_prewhere_conditions') as reorders`
  expect(await open()(reorders, {})).toEqual([{ reorders: true }])
  expect(await open()(`${reorders}, '${PROPERTIES}' as text`, {})).toEqual([{ reorders: false, text: PROPERTIES }])
})

it('a query has one thread beside another, and two alone, whatever became of the other', async () => {
  const gone = new AbortController()
  const other = open({ ms: 60_000, bytes: 64 * MIB }, gone.signal)(SLEEPY, {})
  expect(await open()(THREADS, {})).toEqual([{ threads: 1 }])
  gone.abort()
  await expect(other).rejects.toMatchObject({ reason: 'unavailable' })
  expect(await open()(THREADS, {})).toEqual([{ threads: 2 }])
  await expect(
    open({ ms: 60_000, bytes: 4 * MIB })('select groupArray(number) from numbers(9000000)', {}),
  ).rejects.toMatchObject({ reason: 'too_much' })
  expect(await open()(THREADS, {})).toEqual([{ threads: 2 }])
})

it('is stopped when it takes too much memory, and not below', async () => {
  const many = (count: number) => `select length(groupArray(number)) as n from numbers(${count})`
  expect(await open({ ms: 60_000, bytes: 512 * MIB })(many(1_000_000), {})).toEqual([{ n: 1_000_000 }])
  await expect(open({ ms: 60_000, bytes: 4 * MIB })(many(1_000_000), {})).rejects.toMatchObject({ reason: 'too_much' })
})

it('is stopped when it takes too long', async () => {
  const asked = performance.now()
  await expect(open({ ms: 500, bytes: 64 * MIB })(SLEEPY, {})).rejects.toMatchObject({ reason: 'too_much' })
  expect(performance.now() - asked).toBeLessThan(atLoad(4000))
})

it('the queries of one answer share its time', async () => {
  const read = open({ ms: 300, bytes: 64 * MIB })
  await sleep(310)
  await expect(read('select 1', {})).rejects.toMatchObject({ reason: 'too_much' })
})

it('is not answered while ClickHouse is away, and not for a caller who has gone', async () => {
  const away = connectClickHouse('http://127.0.0.1:9/x')
  const read = openReader({ clickhouse: away, log: lab.log }, { ms: 1000, bytes: 64 * MIB })
  await expect(read('select 1', {})).rejects.toMatchObject({ reason: 'unavailable' })
  await away.close()
  const gone = new AbortController()
  const asked = open({ ms: 60_000, bytes: 64 * MIB }, gone.signal)(SLEEPY, {})
  setTimeout(() => gone.abort(), 100)
  await expect(asked).rejects.toMatchObject({ reason: 'unavailable' })
})

/**
 * Counts the running queries. The embedded engine lists a query that it has stopped until other queries have ended,
 * too.
 */
const runningOf = async (text: string): Promise<number> => {
  const result = await lab.clickhouse.query({
    query: `select query from system.processes where query like '%${text}%' and query not like '%system.processes%' and is_cancelled = 0`,
    format: 'JSONEachRow',
  })
  return (await result.json()).length
}

it('goes on in ClickHouse no longer than its caller waits, and those of others do', async () => {
  const long = { ms: 60_000, bytes: 64 * MIB }
  const ask = (name: string, signal: AbortSignal) =>
    open(long, signal)(`select '${name}', sum(sleepEachRow(0.1)) from numbers(600) settings max_block_size = 1`, {})
  const gone = new AbortController()
  const staying = new AbortController()
  const asked = [ask('is gone', gone.signal), ask('stays', staying.signal)]
  await expect.poll(() => runningOf('sleepEachRow'), { timeout: PATIENCE_MS }).toBe(2)
  gone.abort()
  await expect(asked[0]).rejects.toMatchObject({ reason: 'unavailable' })
  await expect.poll(() => runningOf('is gone'), { timeout: atLoad(1000) }).toBe(0)
  expect(await runningOf('stays')).toBe(1)
  staying.abort()
  await expect(asked[1]).rejects.toMatchObject({ reason: 'unavailable' })
  await expect.poll(() => runningOf('stays'), { timeout: atLoad(1000) }).toBe(0)
})

it('one that ClickHouse does not understand is a fault of ours', async () => {
  await expect(open()('select nothing_of_that_name', {})).rejects.toMatchObject({ type: 'UNKNOWN_IDENTIFIER' })
})
