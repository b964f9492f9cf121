/** Media type, size and JSON of a body, in this order, each with its own refusal. */
import { Buffer } from 'node:buffer'
import { RequestError } from '../errors.ts'
import type { Call, Door } from './door.ts'

const KIB = 1024
const MIB = 1024 * KIB

export interface BodyLimit {
  /** Of one body (decisions, "Body limits"). */
  bytes: number
  /** For the bodies of all requests being answered now: a crowd of large ones must not fill the memory. */
  room: number
}
/** Batches, uploaded slowly or many at once, leave room for live events (design, promise 8). */
export const BODY_LIMITS = {
  single: { bytes: 256 * KIB, room: 256 * MIB },
  batch: { bytes: 32 * MIB, room: 192 * MIB },
} as const satisfies Record<string, BodyLimit>

type Holder = Pick<Door, 'inFlight'>
type Sent = Pick<Call, 'request' | 'bodyBytes'>

/** The parsed body. Throws RequestError: unsupported_media_type, payload_too_large, unavailable, malformed_json. */
export async function readJson(door: Holder, call: Sent, limit: BodyLimit): Promise<unknown> {
  refuseOtherMedia(call.request)
  return parseJson(await readBytes(door, call, limit))
}

function refuseOtherMedia(request: Request): void {
  const [type = ''] = (request.headers.get('content-type') ?? '').split(';')
  if (type.trim().toLowerCase() !== 'application/json') throw new RequestError('unsupported_media_type')
  const encoding = request.headers.get('content-encoding') ?? 'identity'
  if (encoding.trim().toLowerCase() !== 'identity') {
    throw new RequestError('unsupported_media_type', { message: 'Content-Encoding: send the body uncompressed.' })
  }
}

async function readBytes(door: Holder, call: Sent, limit: BodyLimit): Promise<Uint8Array> {
  const declared = call.request.headers.get('content-length')
  if (declared !== null && Number(declared) > limit.bytes) throw tooLarge(limit)
  try {
    if (declared === null) return await countChunks(door, call, limit)
    // The server holds a body to its declared length; one without is counted as it comes.
    hold(door, call, Number(declared), limit)
    return new Uint8Array(await call.request.arrayBuffer())
  } catch (cause) {
    if (cause instanceof RequestError) throw cause
    throw new RequestError('malformed_json', { message: 'The body ended before its time.', cause })
  }
}

async function countChunks(door: Holder, call: Sent, limit: BodyLimit): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  const body: AsyncIterable<Uint8Array> | null = call.request.body
  // Leaving the loop cancels the rest of the body.
  for await (const chunk of body ?? []) {
    hold(door, call, chunk.byteLength, limit)
    if (call.bodyBytes > limit.bytes) throw tooLarge(limit)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** The bytes are given back when the request is answered. */
function hold({ inFlight }: Holder, call: Sent, bytes: number, { room }: BodyLimit): void {
  if (inFlight.bytes + bytes > room) {
    throw new RequestError('unavailable', { headers: { 'Retry-After': '1' } })
  }
  inFlight.bytes += bytes
  call.bodyBytes += bytes
}

function tooLarge({ bytes }: BodyLimit): RequestError {
  return new RequestError('payload_too_large', { message: `The body is too large: at most ${bytes} bytes.` })
}

const decoder = new TextDecoder('utf-8', { fatal: true })

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(bytes))
  } catch (cause) {
    throw new RequestError('malformed_json', { cause })
  }
}
