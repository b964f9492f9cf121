/**
 * Reads the cost of processes from /proc. Each includes its descendants, also those that have ended. A descendant that
 * is named itself counts separately.
 */
import { readFileSync, readdirSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'

/** Linux reports CPU time in hundredths of a second, whatever the kernel's own clock. */
const TICK_US = 10_000

interface Entry {
  parent: number
  /** Its own time, and that of the children it has waited for. */
  cpuUs: number
}

/**
 * Returns the CPU time in microseconds since the start of each process, by name. Throws when one of them has ended. A
 * process that ends passes its time to its parent, so only a reading during which none started or ended counts.
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

/** Returns the resident bytes by name. Memory shared by the processes of one tree counts once. */
export function readMemory<Name extends string>(pids: Record<Name, number>): Record<Name, number> {
  return mapTrees(findMembers(pids, readTable()), (members) => {
    const read = members.map(readResident)
    const most = (of: (one: Resident) => number) => Math.max(...read.map(of))
    return read.reduce((sum, { own }) => sum + own, 0) + most(({ shared }) => shared) + most(({ files }) => files)
  })
}

/**
 * Returns the proportional set size in bytes by name: a page that several processes use counts for each of them with its
 * part, so the sum is what all of them occupy.
 */
export function readProportionalSet<Name extends string>(pids: Record<Name, number>): Record<Name, number> {
  return mapTrees(findMembers(pids, readTable()), (members) =>
    members.reduce(
      (sum, pid) => sum + 1024 * Number(/^Pss:\s+(\d+)/m.exec(readProc(pid, 'smaps_rollup'))?.[1] ?? 0),
      0,
    ),
  )
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

/**
 * Parses `pid (name) state parent …`; the name may contain any characters. Fields 14 to 17 are the CPU times of the
 * process and its children.
 */
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

/** Empty when the process has ended. */
function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
