/**
 * Reads one partition's stream over a connection of its own. A blocked read can stay pending for ever after its
 * connection was lost: the wait is finite, and a client that lets it pass is thrown away.
 */
import type { Redis } from '../stores/redis.ts'
import { type ReadEntry, decodeEntry } from './decode-entry.ts'
import { streamKey } from './keys.ts'

export interface ReaderOptions {
  /** How long Redis holds a read that finds nothing, and how much longer the answer may take. */
  blockMs?: number
  graceMs?: number
}

export interface StreamReader {
  /** Entries after the position, oldest first; none after `blockMs`. Rejects when the read failed or got stuck. */
  read(position: string, count: number): Promise<ReadEntry[]>
  /** Grows with every connection: what was known about the stream has to be checked again. */
  connections(): number
  /** Ends a waiting read, which rejects. */
  close(): void
}

/** `connect` makes a client in the role `read`. */
export function createReader(connect: () => Redis, partition: string, options: ReaderOptions = {}): StreamReader {
  const { blockMs = 1000, graceMs = 2000 } = options
  let connections = 0
  const closed = Promise.withResolvers<never>()
  closed.promise.catch(() => undefined)

  const open = (): Redis => {
    const client = connect()
    client.on('ready', () => (connections += 1))
    return client
  }
  let client = open()

  const stuck = async (timer: { id?: ReturnType<typeof setTimeout> }): Promise<never> => {
    await new Promise((resolve) => (timer.id = setTimeout(resolve, blockMs + graceMs)))
    client.disconnect()
    client = open()
    throw new Error('A blocked read did not return; its connection was replaced.')
  }

  return {
    connections: () => connections,
    async read(position, count) {
      const timer: { id?: ReturnType<typeof setTimeout> } = {}
      const reading = client.xread('COUNT', count, 'BLOCK', blockMs, 'STREAMS', streamKey(partition), position)
      reading.catch(() => undefined)
      try {
        const reply = await Promise.race([reading, stuck(timer), closed.promise])
        return (reply?.[0]?.[1] ?? []).map(([id, fields]) => decodeEntry(id, fields))
      } finally {
        clearTimeout(timer.id)
      }
    },
    close() {
      closed.reject(new Error('The reader was closed.'))
      client.disconnect()
    },
  }
}
