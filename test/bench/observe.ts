/** Samples memory and queues during a load, and keeps the maximum. */
import { setTimeout as sleep } from 'node:timers/promises'
import { readMemory } from './process-tree.ts'
import { PARTS, type Part, type Stack } from './stack.ts'
import { countWaiting } from '../support/count-waiting.ts'

export interface Observed {
  /** Maximum in bytes. */
  memory: Record<Part, number>
  /** Bytes of the front door and the workers together, per sample. */
  services: number[]
  /** Maximum number of entries in the streams, and of saves in the outbox that are not in ClickHouse yet. */
  streamEntries: number
  outboxRows: number
}

export interface Observer {
  stop(): Promise<Observed>
}

const EVERY_MS = 500

export function observe(stack: Stack): Observer {
  const stopping = new AbortController()
  const observed: Observed = {
    memory: readMemory(stack.pids),
    services: [],
    streamEntries: 0,
    outboxRows: 0,
  }
  const keepLooking = async (): Promise<Observed> => {
    while (!stopping.signal.aborted) {
      await look(stack, observed)
      await sleep(EVERY_MS, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
    return observed
  }
  const looking = keepLooking()
  return {
    stop() {
      stopping.abort()
      return looking
    },
  }
}

async function look({ pids, streams, own: { sql, redis } }: Stack, observed: Observed): Promise<void> {
  const memory = readMemory(pids)
  for (const part of PARTS) observed.memory[part] = Math.max(observed.memory[part], memory[part])
  observed.services.push(memory['front-door'] + memory.workers)
  const entries = await countWaiting(redis, streams)
  const [outbox] = await sql<[{ rows: number }]>`select count(*)::int as rows from outbox where shipped_at is null`
  observed.streamEntries = Math.max(observed.streamEntries, entries)
  observed.outboxRows = Math.max(observed.outboxRows, outbox.rows)
}
