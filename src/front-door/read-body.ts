/** Media type, size and JSON of a body, in this order, each with its own refusal. */
import { Buffer } from 'node:buffer'
import { RequestError } from '../errors.ts'

const KIB = 1024
/** Bytes (decisions, "Body limits"). */
export const BODY_LIMITS = { single: 256 * KIB, batch: 32 * KIB * KIB } as const

/** The parsed body. Throws RequestError: unsupported_media_type, payload_too_large, malformed_json. */
export async function readJson(request: Request, limitBytes: number): Promise<unknown> {
  refuseOtherMedia(request)
  return parseJson(await readBytes(request, limitBytes))
}

function refuseOtherMedia(request: Request): void {
  const [type = ''] = (request.headers.get('content-type') ?? '').split(';')
  if (type.trim().toLowerCase() !== 'application/json') throw new RequestError('unsupported_media_type')
  const encoding = request.headers.get('content-encoding') ?? 'identity'
  if (encoding.trim().toLowerCase() !== 'identity') {
    throw new RequestError('unsupported_media_type', { message: 'Content-Encoding: send the body uncompressed.' })
  }
}

async function readBytes(request: Request, limit: number): Promise<Uint8Array> {
  const declared = request.headers.get('content-length')
  if (declared !== null && Number(declared) > limit) throw tooLarge(limit)
  try {
    // The server holds a body to its declared length; one without is counted as it comes.
    return declared === null ? await countChunks(request, limit) : new Uint8Array(await request.arrayBuffer())
  } catch (cause) {
    if (cause instanceof RequestError) throw cause
    throw new RequestError('malformed_json', { message: 'The body ended before its time.', cause })
  }
}

async function countChunks(request: Request, limit: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  const body: AsyncIterable<Uint8Array> | null = request.body
  for await (const chunk of body ?? []) {
    size += chunk.byteLength
    // Leaving the loop cancels the rest of the body.
    if (size > limit) throw tooLarge(limit)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function tooLarge(limit: number): RequestError {
  return new RequestError('payload_too_large', { message: `The body is too large: at most ${limit} bytes.` })
}

const decoder = new TextDecoder('utf-8', { fatal: true })

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(bytes))
  } catch (cause) {
    throw new RequestError('malformed_json', { cause })
  }
}
