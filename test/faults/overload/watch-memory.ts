/** How much memory each process of the product has while something goes on. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readMemory } from '../../bench/process-tree.ts'
import type { World } from '../world.ts'

const NAMES = ['front-door', 'workers-a', 'workers-b', 'redis', 'postgres', 'clickhouse'] as const
const EVERY_MS = 250

export interface Memory {
  /** Resident, by process, children included. */
  bytes: Record<(typeof NAMES)[number], number>
  /** What Redis itself says that it uses. */
  redisData: number
}

export interface MemoryWatch {
  stop(): Promise<Memory[]>
}

export async function watchMemory(world: World): Promise<MemoryWatch> {
  const read = async (name: string) => Number(await readFile(join(world.folder, `${name}.pid`), 'utf8'))
  const entries = await Promise.all(NAMES.map(async (name) => [name, await read(name)] as const))
  const pids = Object.fromEntries(entries) as Record<(typeof NAMES)[number], number>
  const stopping = new AbortController()
  const look = async (): Promise<Memory[]> => {
    const seen: Memory[] = []
    while (!stopping.signal.aborted) {
      const info = await world.own.redis.info('memory')
      seen.push({ bytes: readMemory(pids), redisData: Number(/^used_memory:(\d+)/m.exec(info)?.[1]) })
      await sleep(EVERY_MS, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
    return seen
  }
  const looking = look()
  return {
    stop() {
      stopping.abort()
      return looking
    },
  }
}

const MEBIBYTE = 1024 * 1024
/** What garbage that was not collected yet, merges of ClickHouse and caches may add, once all are warm. */
const MARGIN = { bytes: 64 * MEBIBYTE, share: 0.25 }

/**
 * The processes whose memory went on growing, each with how much, in words. The first third is for warming up; of the
 * other two the medians are compared.
 */
export function findGrowth(memory: Memory[]): string[] {
  const third = Math.floor(memory.length / 3)
  return NAMES.flatMap((name) => {
    const bytes = memory.map((one) => one.bytes[name])
    const before = medianOf(bytes.slice(third, 2 * third))
    const after = medianOf(bytes.slice(2 * third))
    const isFlat = after <= before * (1 + MARGIN.share) + MARGIN.bytes
    return isFlat ? [] : [`${name} from ${inMebibytes(before)} to ${inMebibytes(after)} MiB`]
  })
}

const medianOf = (numbers: number[]): number => numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? 0
const inMebibytes = (bytes: number): number => Math.round(bytes / MEBIBYTE)

/** The most that each process had. */
export const describePeaks = (memory: Memory[]): string =>
  NAMES.map((name) => `${name} ${inMebibytes(Math.max(...memory.map(({ bytes }) => bytes[name])))}`).join(', ')
