/** Samples the memory of each process of the product. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readMemory } from '../../bench/process-tree.ts'
import { findTrends, type Trend } from '../find-trends.ts'
import { MEMORY } from '../soak/read-figures.ts'
import type { World } from '../world.ts'

const NAMES = ['front-door', 'workers-a', 'workers-b', 'redis', 'postgres', 'clickhouse'] as const
const EVERY_MS = 250

export interface Memory {
  /** Resident memory by process, including children. */
  bytes: Record<(typeof NAMES)[number], number>
  /** Memory that Redis itself reports. */
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

const trendsOf = (memory: Memory[]): Trend[] =>
  findTrends(
    memory.map(({ bytes }) => Object.fromEntries(NAMES.map((name) => [`${name} ${MEMORY}`, bytes[name] / MEBIBYTE]))),
  )

/** Describes the processes whose memory kept growing. */
export const findGrowth = (memory: Memory[]): string[] =>
  trendsOf(memory)
    .filter(({ isGrowing }) => isGrowing)
    .map(({ name, before, after }) => `${name} from ${Math.round(before)} to ${Math.round(after)}`)

/** Describes the maximum memory of each process. */
export const describePeaks = (memory: Memory[]): string =>
  trendsOf(memory)
    .map(({ name, most }) => `${name} ${Math.round(most)}`)
    .join(', ')
