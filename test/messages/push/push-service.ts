/**
 * A push service over HTTPS, and browsers that subscribe to it. It decrypts and verifies messages without the product's
 * code.
 */
import { execFileSync } from 'node:child_process'
import { createECDH, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'

/** Bytes that WebCrypto takes. */
type Bytes = Uint8Array<ArrayBuffer>

export interface TestBrowser {
  /** In the form of `PushSubscription.toJSON()`. */
  subscription: { endpoint: string; keys: { p256dh: string; auth: string } }
  /** The decrypted messages that it was sent. */
  received: Record<string, unknown>[]
  /** How its push service answers: first 201. `null`: it does not answer. */
  status: number | null
  decrypt(body: Buffer): Promise<string>
}

export interface PushService {
  url: string
  subscribe(): TestBrowser
  /** In the order of arrival. */
  heard: { headers: IncomingHttpHeaders; bytes: number; claims: Record<string, unknown>; key: string }[]
  close(): Promise<void>
}

/** Its certificate is self-signed: the process must not check it (`NODE_TLS_REJECT_UNAUTHORIZED`). */
export async function openPushService(): Promise<PushService> {
  const browsers = new Map<string, TestBrowser>()
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const browser = browsers.get(request.url ?? '')
    const body = await buffer(request)
    if (browser === undefined) return void response.writeHead(404).end()
    const { authorization = '' } = request.headers
    service.heard.push({ headers: request.headers, bytes: body.length, ...(await verifyVapid(authorization)) })
    if (browser.status === null) return void request.socket.destroy()
    if (browser.status === 201)
      browser.received.push(JSON.parse(await browser.decrypt(body)) as Record<string, unknown>)
    response.writeHead(browser.status).end(browser.status === 201 ? '' : 'no')
  }
  const server = createServer(certificate(), (request, response) => {
    answer(request, response).catch((error: unknown) => response.writeHead(599).end(String(error)))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  const service: PushService = {
    url,
    heard: [],
    subscribe() {
      const path = `/send/${randomBytes(16).toString('base64url')}`
      const browser = makeBrowser(`${url}${path}`)
      browsers.set(path, browser)
      return browser
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return service
}

function certificate(): { key: Buffer; cert: Buffer } {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-push-'))
  const [key, cert] = [join(folder, 'key'), join(folder, 'cert')]
  const words = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost'
  execFileSync('openssl', [...words.split(' '), '-keyout', key, '-out', cert], { stdio: 'ignore' })
  const read = { key: readFileSync(key), cert: readFileSync(cert) }
  rmSync(folder, { recursive: true })
  return read
}

export function makeBrowser(endpoint: string): TestBrowser {
  const ecdh = createECDH('prime256v1')
  const point = ecdh.generateKeys()
  const auth = randomBytes(16)
  const keys = { p256dh: point.toString('base64url'), auth: auth.toString('base64url') }
  return {
    subscription: { endpoint, keys },
    received: [],
    status: 201,
    decrypt: (body) => decrypt(body, { secretOf: (other) => ecdh.computeSecret(other), point, auth }),
  }
}

interface Receiver {
  secretOf: (other: Buffer) => Buffer
  point: Buffer
  auth: Buffer
}

/** Decrypts as a browser does: RFC 8291, section 3, and RFC 8188. */
async function decrypt(body: Buffer, { secretOf, point, auth }: Receiver): Promise<string> {
  const salt = body.subarray(0, 16)
  const sender = body.subarray(21, 21 + body.readUInt8(20))
  const text = (words: string) => Buffer.from(words)
  const material = await hkdf(secretOf(sender), auth, Buffer.concat([text('WebPush: info\0'), point, sender]), 32)
  const key = await hkdf(material, salt, text('Content-Encoding: aes128gcm\0'), 16)
  const iv = await hkdf(material, salt, text('Content-Encoding: nonce\0'), 12)
  const opened = await crypto.subtle.importKey('raw', key, 'AES-GCM', false, ['decrypt'])
  const sealed = copyOf(body.subarray(21 + sender.length))
  const padded = Buffer.from(await crypto.subtle.decrypt({ name: 'AES-GCM', iv }, opened, sealed))
  return padded.subarray(0, padded.lastIndexOf(2)).toString()
}

async function hkdf(material: Uint8Array, salt: Uint8Array, info: Uint8Array, bytes: number): Promise<Bytes> {
  const key = await crypto.subtle.importKey('raw', copyOf(material), 'HKDF', false, ['deriveBits'])
  const algorithm = { name: 'HKDF', hash: 'SHA-256', salt: copyOf(salt), info: copyOf(info) }
  return new Uint8Array(await crypto.subtle.deriveBits(algorithm, key, bytes * 8))
}

const copyOf = (bytes: Uint8Array): Bytes => new Uint8Array(bytes)

/**
 * Resolves with the claims of the header `authorization`, and the key that signed them. Rejects when the signature is
 * wrong.
 */
export async function verifyVapid(header: string): Promise<{ claims: Record<string, unknown>; key: string }> {
  const [, head = '', claims = '', signature = '', key = ''] =
    /^vapid t=([\w-]+)\.([\w-]+)\.([\w-]+), ?k=([\w-]+)$/.exec(header) ?? []
  const bytes = (text: string) => copyOf(Buffer.from(text, 'base64url'))
  const opened = await crypto.subtle.importKey('raw', bytes(key), { name: 'ECDSA', namedCurve: 'P-256' }, false, [
    'verify',
  ])
  const how = { name: 'ECDSA', hash: 'SHA-256' }
  const isSigned = await crypto.subtle.verify(how, opened, bytes(signature), copyOf(Buffer.from(`${head}.${claims}`)))
  if (!isSigned) throw new Error('the key has not signed it')
  const read = (text: string) => JSON.parse(Buffer.from(text, 'base64url').toString()) as Record<string, unknown>
  if (JSON.stringify(read(head)) !== '{"typ":"JWT","alg":"ES256"}') throw new Error('its head is another one')
  return { claims: read(claims), key }
}
