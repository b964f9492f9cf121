/** Checks the media type, the size and the JSON of a body, in this order, each with its own error. */
import { Buffer } from 'node:buffer'
import { RequestError } from '../../errors.ts'
import { type SharedTimeouts, createSharedTimeouts } from '../../async/shared-timeouts.ts'
import { faultOf } from '../../rules/faults.ts'
import type { RequestContext } from '../app-context.ts'
import { noteLargeIntegers } from './large-integers.ts'
import { type BodyMemoryLimits, type BodyMemoryUser, reserveBodyMemory, type BodyMemoryOwner } from './body-memory.ts'

const KIB = 1024
const MIB = 1024 * KIB
const JSON_TYPE = 'application/json'

export interface BodyLimit extends BodyMemoryLimits {
  /** Maximum size of a body (decisions, "Body limits"). */
  bytes: number
  /** Time for the whole body to arrive. After it, the body is rejected and its memory is released. */
  seconds: number
  media: readonly string[]
}
/**
 * The rooms leave memory for live events while batches are many or slow (design, promise 8), and the shares leave
 * memory for other businesses.
 */
export const BODY_LIMITS = {
  single: { bytes: 256 * KIB, room: 256 * MIB, share: 64 * MIB, seconds: 20, media: [JSON_TYPE] },
  batch: { bytes: 32 * MIB, room: 192 * MIB, share: 48 * MIB, seconds: 120, media: [JSON_TYPE] },
  // Of a send call, with files.
  call: { bytes: 8 * MIB, room: 192 * MIB, share: 48 * MIB, seconds: 60, media: [JSON_TYPE] },
  // Parts of a file, of a few million characters. Their JSON is parsed at once, so it is as small as it can be.
  file: { bytes: 16 * MIB, room: 192 * MIB, share: 48 * MIB, seconds: 120, media: [JSON_TYPE] },
  // Forms from people's browsers and from mail programs.
  form: {
    bytes: 16 * KIB,
    room: 256 * MIB,
    share: 64 * MIB,
    seconds: 20,
    media: ['application/x-www-form-urlencoded', 'multipart/form-data'],
  },
  // Callbacks of providers: those of Meta can have 3 MB.
  callback: { bytes: 3 * MIB, room: 256 * MIB, share: 64 * MIB, seconds: 20, media: [] },
  // Pages send text/plain where they must avoid a preflight (beacons, fetch).
  browser: { bytes: 64 * KIB, room: 256 * MIB, share: 64 * MIB, seconds: 20, media: [JSON_TYPE, 'text/plain'] },
} as const satisfies Record<string, BodyLimit>

type BodyContext = Pick<RequestContext, 'request'> & BodyMemoryUser

/**
 * Returns the parsed body. Throws RequestError: unsupported_media_type, payload_too_large, unavailable, malformed_json.
 */
export async function readJson(app: BodyMemoryOwner, context: BodyContext, limit: BodyLimit): Promise<unknown> {
  refuseOtherMedia(context.request, limit.media)
  return parseJson(await readBytes(app, context, limit))
}

/** `getAll` returns all values of a field. The value of a file is not a string. */
export interface Form {
  getAll(name: string): unknown[]
}

/**
 * Returns the fields of a form; a body without a media type has none. Throws RequestError as `readJson` does, and
 * `invalid_request`.
 */
export async function readForm(app: BodyMemoryOwner, context: BodyContext, limit: BodyLimit): Promise<Form> {
  const type = context.request.headers.get('content-type')
  if (type === null) return new FormData()
  refuseOtherMedia(context.request, limit.media)
  const bytes = await readBytes(app, context, limit)
  try {
    return await new Response(bytes as Uint8Array<ArrayBuffer>, { headers: { 'Content-Type': type } }).formData()
  } catch (cause) {
    throw new RequestError('invalid_request', { message: 'The body is not a form.', cause })
  }
}

/** Returns the unparsed body, of any media type. Throws RequestError as `readJson` does, except for invalid JSON. */
export async function readRaw(app: BodyMemoryOwner, context: BodyContext, limit: BodyLimit): Promise<Buffer> {
  refuseEncoding(context.request)
  return Buffer.from((await readBytes(app, context, limit)) as ArrayBuffer)
}

function refuseOtherMedia(request: Request, media: readonly string[]): void {
  const type = request.headers.get('content-type') ?? ''
  if (!media.includes(type) && !media.includes(withoutParameters(type))) {
    throw new RequestError('unsupported_media_type', { message: `Content-Type must be ${media.join(' or ')}.` })
  }
  refuseEncoding(request)
}

function refuseEncoding(request: Request): void {
  const encoding = request.headers.get('content-encoding')
  if (encoding !== null && encoding.trim().toLowerCase() !== 'identity') {
    throw new RequestError('unsupported_media_type', {
      message: 'Content-Encoding is not supported. Send the body uncompressed.',
    })
  }
}

const withoutParameters = (type: string): string => (type.split(';')[0] ?? '').trim().toLowerCase()

function readBytes(app: BodyMemoryOwner, context: BodyContext, limit: BodyLimit): Promise<Uint8Array | ArrayBuffer> {
  const declared = declaredBytes(context.request)
  if (declared !== null && declared > limit.bytes) throw tooLarge(limit)
  if (declared === null) return readChunks(app, context, limit)
  // The server enforces a declared length. A body without one is counted as it arrives.
  reserveBodyMemory(app, context, declared, limit)
  return inTime(limit, context.request.arrayBuffer())
}

/** Returns null when the length is not one whole number. Bun joins a length that is sent twice, as in `7, 7`. */
function declaredBytes({ headers }: Request): number | null {
  const declared = headers.get('content-length') ?? ''
  return /^\d+$/.test(declared) ? Number(declared) : null
}

async function readChunks(app: BodyMemoryOwner, context: BodyContext, limit: BodyLimit): Promise<Uint8Array> {
  const body: ReadableStream<Uint8Array> | null = context.request.body
  const reader = body?.getReader()
  if (reader === undefined) return new Uint8Array()
  const countChunks = async (): Promise<Uint8Array> => {
    const chunks: Uint8Array[] = []
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return Buffer.concat(chunks)
      reserveBodyMemory(app, context, value.byteLength, limit)
      if (context.bodyBytes > limit.bytes) throw tooLarge(limit)
      chunks.push(value)
    }
  }
  try {
    return await inTime(limit, countChunks())
  } finally {
    // Stops the rest of a body that was rejected midway.
    reader.cancel().catch(() => undefined)
  }
}

/** By their length in seconds. */
const timeouts = new Map<number, SharedTimeouts>()

function timeoutsFor(seconds: number): SharedTimeouts {
  const known = timeouts.get(seconds) ?? createSharedTimeouts(seconds * 1000)
  timeouts.set(seconds, known)
  return known
}

/**
 * Rejects when the body ends early, or when the time is over. In the second case the answer closes the connection, since
 * the rest of the body may never arrive.
 */
function inTime<T>({ seconds }: BodyLimit, read: Promise<T>): Promise<T> {
  const running = timeoutsFor(seconds)
  return new Promise((resolve, reject) => {
    const timeout = running.begin(() => reject(tooLate(seconds)))
    read.then(
      (bytes) => {
        running.end(timeout)
        resolve(bytes)
      },
      (error: unknown) => {
        running.end(timeout)
        reject(error instanceof RequestError ? error : endedEarly(error))
      },
    )
  })
}

function endedEarly(cause: unknown): RequestError {
  return new RequestError('malformed_json', { reason: faultOf('', 'body_ended'), cause })
}

function tooLate(seconds: number): RequestError {
  return new RequestError('malformed_json', {
    reason: faultOf('', 'body_late', { seconds }),
    headers: { Connection: 'close' },
  })
}

function tooLarge({ bytes }: BodyLimit): RequestError {
  const message = `The body is too large. Send at most ${bytes} bytes.`
  return new RequestError('payload_too_large', { message, reason: faultOf('', 'body_up_to', { max: bytes }) })
}

const decoder = new TextDecoder('utf-8', { fatal: true })

function parseJson(bytes: Uint8Array | ArrayBuffer): unknown {
  try {
    const text = decoder.decode(bytes)
    const body: unknown = JSON.parse(text)
    noteLargeIntegers(text, body)
    return body
  } catch (cause) {
    throw new RequestError('malformed_json', { cause })
  }
}
