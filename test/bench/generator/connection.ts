/**
 * One HTTP/1.1 keep-alive connection with one request at a time. It only finds the status and the end of a response, to
 * save work.
 */
import { Buffer } from 'node:buffer'
import type { Socket } from 'bun'

export interface Connection {
  send(request: string): void
}

export interface Events {
  /** Called with a complete response. The connection owns the bytes, which are valid only during the call. */
  onAnswer(status: number, answer: Buffer): void
  /** The connection has ended; a request in flight has no response. */
  onEnd(): void
}

interface Reading {
  events: Events
  /** Parts of a response that is still incomplete. */
  pieces: Buffer[]
  /** The part of a request that did not fit into the socket. */
  unsent: Buffer | undefined
}

/** Rejects when the port is closed. */
export async function connect(url: URL, events: Events): Promise<Connection> {
  const socket = await Bun.connect<Reading>({
    hostname: url.hostname,
    port: Number(url.port),
    data: { events, pieces: [], unsent: undefined },
    socket: {
      data: take,
      drain: flush,
      close: ({ data }) => data.events.onEnd(),
      error: (socket) => void socket.end(),
    },
  })
  socket.setNoDelay(true)
  return {
    send(request) {
      const written = socket.write(request)
      if (written >= request.length) return
      socket.data.unsent = Buffer.from(request, 'latin1').subarray(Math.max(written, 0))
    },
  }
}

function flush(socket: Socket<Reading>): void {
  const { unsent } = socket.data
  if (!unsent) return
  const written = Math.max(socket.write(unsent), 0)
  socket.data.unsent = written < unsent.length ? unsent.subarray(written) : undefined
}

function take({ data }: Socket<Reading>, chunk: Buffer): void {
  const whole = data.pieces.length === 0 ? chunk : Buffer.concat([...data.pieces, chunk])
  const status = readAnswer(whole)
  if (status === undefined) {
    // The socket reuses the memory of the chunk.
    data.pieces = [data.pieces.length === 0 ? Buffer.from(whole) : whole]
    return
  }
  data.pieces = []
  data.events.onAnswer(status, whole)
}

/**
 * Returns the status; undefined while the response is incomplete. The bodies are JSON, which never contains the end of
 * a chunked body.
 */
export function readAnswer(bytes: Buffer): number | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const length = /\r\ncontent-length: *(\d+)/i.exec(bytes.toString('latin1', 0, end))?.[1]
  const isWhole = length === undefined ? endsChunked(bytes) : bytes.length >= end + 4 + Number(length)
  return isWhole ? Number(bytes.toString('latin1', 9, 12)) : undefined
}

const LAST_CHUNK = '\r\n0\r\n\r\n'

const endsChunked = (bytes: Buffer): boolean =>
  bytes.toString('latin1', Math.max(0, bytes.length - LAST_CHUNK.length)) === LAST_CHUNK
