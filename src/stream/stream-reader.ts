/**
 * Reads one partition's stream over a separate connection. A blocked read can stay pending for ever after its connection
 * was lost, so each read has a time limit, and a client that exceeds it is replaced.
 */
import type { Buffer } from 'node:buffer'
import { sleep } from '../async/sleep.ts'
import type { Redis } from '../stores/redis.ts'
import { type ReadEntry, decodeEntry } from './decode-entry.ts'
import { streamKey } from './keys.ts'
import { unpackText } from './pack-text.ts'
import { kindOf } from './partition-of.ts'

/** A thread reads what has arrived within this time. */
const ARRIVED_MS = 50
/** Other work of the thread, such as renewals of leases, has its turn after an entry of this many characters. */
const LARGE = 1024 * 1024

const CLOSED = 'The reader was closed.'

export interface ReaderOptions {
  /** How long Redis holds a read that finds nothing, and how much longer the answer may take. */
  blockMs?: number
  graceMs?: number
}

/** For each stream, its name and its entries: the id, then field names and values in turn. */
type Read = [stream: Buffer, entries: RawEntry[]][]
type RawEntry = [id: Buffer, fields: Buffer[]]

export interface StreamReader {
  /** Entries after the position, oldest first; none after `blockMs`. Rejects when the read failed or got stuck. */
  read(position: string, count: number): Promise<ReadEntry[]>
  /** Like `read`, without waiting for entries. */
  readAtOnce(position: string, count: number): Promise<ReadEntry[]>
  /** The number of connections so far. When it grows, the state of the stream has to be checked again. */
  connections(): number
  /** When the first read was sent that Redis has not answered since; undefined when the last read was answered. */
  unansweredSince(): number | undefined
  /** Ends a waiting read, which rejects, as does every later one. */
  close(): void
}

/** `connect` makes a client in the role `read`. */
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

  const readBy = async (ask: () => Promise<Read | null>): Promise<ReadEntry[]> => {
    // A client that is being closed would keep the read waiting, and be replaced, while Redis hangs.
    if (isClosed) throw new Error(CLOSED)
    const ended = Promise.withResolvers<never>()
    endRead = ended.reject
    unansweredSince ??= performance.now()
    // When the thread was busy, the answer may have arrived, and is read between the two timers.
    let watchdog = setTimeout(() => (watchdog = setTimeout(replaceClient, ARRIVED_MS)), blockMs + graceMs)
    const reply = await Promise.race([ask(), ended.promise]).finally(() => clearTimeout(watchdog))
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
