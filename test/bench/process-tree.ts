/**
 * What processes cost, from /proc: each with its descendants, also those that have ended meanwhile. A descendant that has
 * a name of its own counts under that.
 */
import { readFileSync, readdirSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'

/** Linux counts CPU time for readers in hundredths of a second, whatever the kernel's own clock. */
const TICK_US = 10_000

interface Entry {
  parent: number
  /** Its own, and that of the children it has waited for. */
  cpuUs: number
}

/**
 * CPU time in µs since the process began, by name. Throws when one of them is gone. A process that ends hands its time to
 * its parent: only a look during which none came or went counts.
 */
export function readCpu<Name extends string>(pids: Record<Name, number>): Record<Name, number> {
  for (let before = findMembers(pids, readTable()); ;) {
    const table = readTable()
    const after = findMembers(pids, table)
    const sums = mapTrees(after, (members) => members.reduce((sum, pid) => sum + (table.get(pid)?.cpuUs ?? 0), 0))
    const last = findMembers(pids, readTable())
    if (isDeepStrictEqual([before, after], [after, last])) return sums
    before = last
  }
}

/** Resident bytes by name; what the processes of one tree share is counted once. */
export function readMemory<Name extends string>(pids: Record<Name, number>): Record<Name, number> {
  return mapTrees(findMembers(pids, readTable()), (members) => {
    const read = members.map(readResident)
    const most = (of: (one: Resident) => number) => Math.max(...read.map(of))
    return read.reduce((sum, { own }) => sum + own, 0) + most(({ shared }) => shared) + most(({ files }) => files)
  })
}

function findMembers<Name extends string>(
  pids: Record<Name, number>,
  table: Map<number, Entry>,
): Record<Name, number[]> {
  const children = Map.groupBy(table.keys(), (pid) => table.get(pid)?.parent ?? 0)
  const named = new Set(Object.values<number>(pids))
  const below = (pid: number): number[] => (children.get(pid) ?? []).filter((child) => !named.has(child))
  const membersOf = (pid: number): number[] => [pid, ...below(pid).flatMap(membersOf)]
  const entries = Object.entries<number>(pids).map(([name, pid]) => {
    if (!table.has(pid)) throw new Error(`The process of ${name} (${pid}) is gone`)
    return [name, membersOf(pid).toSorted((a, b) => a - b)]
  })
  return Object.fromEntries(entries) as Record<Name, number[]>
}

function mapTrees<Name extends string>(
  members: Record<Name, number[]>,
  of: (members: number[]) => number,
): Record<Name, number> {
  const entries = Object.entries<number[]>(members).map(([name, pids]) => [name, of(pids)])
  return Object.fromEntries(entries) as Record<Name, number>
}

function readTable(): Map<number, Entry> {
  const pids = readdirSync('/proc').map(Number).filter(Boolean)
  return new Map(pids.flatMap((pid) => parseStat(readProc(pid, 'stat')).map((entry) => [pid, entry] as const)))
}

/** `pid (name) state parent …`, of which 14 to 17 are its own and its children's time; the name may hold anything. */
export function parseStat(stat: string): Entry[] {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (fields.length < 15) return []
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
  return [{ parent: Number(fields[1]), cpuUs: ticks * TICK_US }]
}

interface Resident {
  own: number
  shared: number
  files: number
}

function readResident(pid: number): Resident {
  const status = readProc(pid, 'status')
  const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0) * 1024
  return { own: bytes('RssAnon'), shared: bytes('RssShmem'), files: bytes('RssFile') }
}

/** '' when the process ended meanwhile. */
function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
