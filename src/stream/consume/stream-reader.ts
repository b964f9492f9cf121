/**
 * Reads the stream of one partition over a separate connection. A blocked read can stay pending forever after its
 * connection was lost, so each read has a time limit, and a client that exceeds it is replaced.
 */
import type { Buffer } from 'node:buffer'
import { sleep } from '../../async/sleep.ts'
import type { Redis } from '../../stores/redis.ts'
import { type ReadEntry, decodeEntry } from '../decode-entry.ts'
import { streamKey } from '../keys.ts'
import { unpackText } from '../pack-text.ts'
import { kindOf } from '../partitions/partition-of.ts'

/** A thread that was busy reads what has arrived within this time. */
const ARRIVED_MS = 50
/** After an entry of this many characters, the thread first does other work, such as renewing leases. */
const LARGE = 1024 * 1024

const CLOSED = 'The reader was closed.'

export interface ReaderOptions {
  /** Milliseconds that Redis holds a read that finds nothing, and how much longer the answer may take. */
  blockMs?: number
  graceMs?: number
}

/** For each stream, its name and its entries: the id, then alternating field names and values. */
type Read = [stream: Buffer, entries: RawEntry[]][]
type RawEntry = [id: Buffer, fields: Buffer[]]

export interface StreamReader {
  /**
   * Reads the entries after the position, oldest first. Resolves with none after `blockMs`. Rejects when the read
   * failed or got stuck.
   */
  read(position: string, count: number): Promise<ReadEntry[]>
  /** Like `read`, but does not wait for entries. */
  readAtOnce(position: string, count: number): Promise<ReadEntry[]>
  /** Returns the number of connections so far. When it grows, the state of the stream has to be checked again. */
  connections(): number
  /** Returns the time of the first read that Redis has not answered; undefined when the last read was answered. */
  unansweredSince(): number | undefined
  /** Ends a waiting read, which then rejects, as do all later reads. */
  close(): void
}

/** `connect` creates a client in the role `read`. */
export function createReader(connect: () => Redis, partition: string, options: ReaderOptions = {}): StreamReader {
  const { blockMs = 2000, graceMs = 1000 } = options
  let connections = 0
  let isClosed = false
  let unansweredSince: number | undefined
  let endRead: (reason: Error) => void = () => undefined

  const open = (): Redis => {
    const opened = connect()
    opened.on('ready', () => (connections += 1))
    return opened
  }
  let client = open()
  const replaceClient = (): void => {
    client.disconnect()
    client = open()
    endRead(new Error('A blocked read did not return; its connection was replaced.'))
  }

  const readBy = async (send: () => Promise<Read | null>): Promise<ReadEntry[]> => {
    // A client that is being closed would keep the read waiting while Redis hangs, and would then be replaced.
    if (isClosed) throw new Error(CLOSED)
    const ended = Promise.withResolvers<never>()
    endRead = ended.reject
    unansweredSince ??= performance.now()
    // After the thread was busy, the answer may already have arrived. It is then read between the two timers.
    let watchdog = setTimeout(() => (watchdog = setTimeout(replaceClient, ARRIVED_MS)), blockMs + graceMs)
    const reply = await Promise.race([send(), ended.promise]).finally(() => clearTimeout(watchdog))
    unansweredSince = undefined
    return decodeAll(reply?.[0]?.[1] ?? [], partition)
  }

  const key = streamKey(partition)
  return {
    connections: () => connections,
    unansweredSince: () => unansweredSince,
    read: (position, count) =>
      readBy(() => client.xreadBuffer('COUNT', count, 'BLOCK', blockMs, 'STREAMS', key, position)),
    readAtOnce: (position, count) => readBy(() => client.xreadBuffer('COUNT', count, 'STREAMS', key, position)),
    close() {
      isClosed = true
      endRead(new Error(CLOSED))
      client.disconnect()
    },
  }
}

async function decodeAll(raw: RawEntry[], partition: string): Promise<ReadEntry[]> {
  const entries: ReadEntry[] = []
  for (const [id, fields] of raw) {
    const entry = decodeEntry(id.toString(), fields.map(unpackText), kindOf(partition))
    entries.push(entry)
    if (entry.bytes >= LARGE) await sleep(0)
  }
  return entries
}
