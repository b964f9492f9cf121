/** Reads figures that should stay stable however long the product runs: memory, files, connections, tables and keys. */
import { readFile, readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { backlogKey } from '../../../src/stream/keys.ts'
import { readMemory } from '../../bench/process-tree.ts'
import type { World } from '../world.ts'

const PROCESSES = ['front-door', 'workers-a', 'workers-b', 'redis', 'postgres', 'clickhouse'] as const

/** Present values by name. */
export type Figures = Record<string, number>

/**
 * `growing`: figures that may vary, but must not keep growing. `wrong`: things that must be gone when everything is at
 * rest.
 */
export interface Reading {
  growing: Figures
  wrong: string[]
}

/** Reads the figures of a world that has settled. */
export async function readFigures(world: World): Promise<Reading> {
  return {
    growing: {
      ...(await readProcesses(world)),
      ...(await readConnections(world)),
      ...(await readSizes(world)),
      ...(await readKeys(world)),
    },
    wrong: await findRemains(world),
  }
}

async function readProcesses({ folder }: World): Promise<Figures> {
  const read = async (name: string) => [name, Number(await readFile(join(folder, `${name}.pid`), 'utf8'))] as const
  const pids = { ...Object.fromEntries(await Promise.all(PROCESSES.map(read))), soak: process.pid }
  const memory = Object.entries(readMemory(pids)).map(([name, bytes]) => [`${name} ${MEMORY}`, toMebibytes(bytes)])
  const files = await Promise.all(
    Object.entries(pids).map(async ([name, pid]) => [`${name} files`, await countFiles(pid)]),
  )
  return Object.fromEntries([...memory, ...files]) as Figures
}

/**
 * Excludes the files through which ClickHouse monitors its threads, three per thread, because it keeps threads for the
 * next mutation.
 */
async function countFiles(pid: number): Promise<number> {
  const open = (await readdir(`/proc/${pid}/fd`)).map((file) => readlink(`/proc/${pid}/fd/${file}`).catch(() => ''))
  return (await Promise.all(open)).filter((target) => !target.startsWith('/proc/')).length
}

export const MEMORY = 'MiB'

async function readConnections({ own: { sql, redis } }: World): Promise<Figures> {
  const rows = await sql<{ name: string; count: number }[]>`
    select application_name as name, count(*)::int as count from pg_stat_activity
    where backend_type = 'client backend' group by 1`
  const clients = String(await redis.client('LIST'))
    .trim()
    .split('\n').length
  const byName = rows.map(({ name, count }) => [`Postgres connections of ${name}`, count] as const)
  return { 'Redis connections': clients, ...Object.fromEntries(byName) }
}

/** Sizes of the small tables that every save rewrites, in pages of 8 KiB. */
async function readSizes({ own: { sql } }: World): Promise<Figures> {
  const rows = await sql<{ name: string; pages: number }[]>`
    select name, (pg_relation_size(name::regclass) / 8192)::int as pages
    from unnest('{positions,partitioning,timeline_lease,dead_letters}'::text[]) as name`
  return Object.fromEntries(rows.map(({ name, pages }) => [`pages of ${name}`, pages]))
}

/**
 * Excludes the keys of partitions (at most three each), whose number may grow with a change of partitions because a
 * removed partition keeps its fence, and the windows of the rate limiter, which expire a minute later.
 */
async function readKeys({ own: { redis } }: World): Promise<Figures> {
  const count = async (pattern: string) => (await redis.scan(0, 'MATCH', pattern, 'COUNT', 10_000_000))[1].length
  const expected = (await count('sluice:limit:*')) + (await count('sluice:{*}:*'))
  return { 'Redis keys': (await redis.dbsize()) - expected }
}

async function findRemains({ own: { sql, redis } }: World): Promise<string[]> {
  const [row] = await sql<[Record<string, number>]>`
    select (select count(*)::int from dead_letters) as "dead letters",
      (select count(*)::int from outbox where shipped_at is null) as "rows that are not shipped",
      (select count(*)::int from erasures where deleted_at is null) as "unfinished erasures",
      (select abs(count(*) - 3 * (select partitions from partitioning))::int from positions) as "positions too many or few",
      (select count(*)::int from pg_prepared_xacts) as "prepared transactions"`
  const partitions = await sql<{ partition: string }[]>`select partition from positions`
  const backlogs = await Promise.all(partitions.map(({ partition }) => redis.hgetall(backlogKey(partition))))
  const remains = Object.entries(row).filter(([, count]) => count !== 0)
  return [
    ...remains.map(([what, count]) => `${count} ${what}`),
    ...backlogs.flatMap((fields) => Object.entries(fields).map(([of, bytes]) => `a backlog of ${bytes} bytes (${of})`)),
  ]
}

const toMebibytes = (bytes: number): number => Math.round(bytes / 2 ** 20)
