/** Sends bytes over a separate connection, as no HTTP client would. */
import { Buffer } from 'node:buffer'
import { connect } from 'node:net'

/** One character is one byte. */
const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1')

/** A connection that sends only the given text. `heard`: returns the text received so far. */
export interface Line {
  say(text: string): void
  heard(): string
  /** Resolves when both sides have closed the connection. */
  ended: Promise<void>
  /** Ends the sending side. */
  hangUp(): void
}

export async function openLine(url: string): Promise<Line> {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  const heard: Buffer[] = []
  const opened = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  socket.on('connect', opened.resolve).on('close', () => {
    opened.resolve()
    ended.resolve()
  })
  // A connection that breaks while sending ends like any other.
  socket.on('data', (bytes: Buffer) => heard.push(bytes)).on('error', () => undefined)
  await opened.promise
  return {
    say: (text) => void socket.write(bytesOf(text)),
    heard: () => Buffer.concat(heard).toString('latin1'),
    ended: ended.promise,
    hangUp: () => void socket.end(),
  }
}

/**
 * Sends the bytes and resolves with the whole response when the server has closed the connection. After `patienceMs` it
 * closes its side; `ended` is then false.
 */
export async function speakRaw(
  url: string,
  sent: string,
  { patienceMs = 20_000, hangUp = false } = {},
): Promise<{ text: string; ended: boolean }> {
  const line = await openLine(url)
  line.say(sent)
  if (hangUp) line.hangUp()
  const late = Promise.withResolvers<'late'>()
  const timer = setTimeout(() => late.resolve('late'), patienceMs)
  const outcome = await Promise.race([line.ended, late.promise])
  clearTimeout(timer)
  line.hangUp()
  return { text: line.heard(), ended: outcome !== 'late' }
}

export interface RawAnswer {
  status: number
  headers: Headers
  body: string
}

/**
 * Parses the responses, without interim ones. Throws for an incomplete response. Responses to HEAD have no body,
 * whatever their headers.
 */
export function readAnswers(text: string, method = 'GET'): RawAnswer[] {
  const answers: RawAnswer[] = []
  for (let rest = text; rest !== '';) {
    const end = rest.indexOf('\r\n\r\n')
    const [first = '', ...lines] = rest.slice(0, end).split('\r\n')
    const status = Number(/^HTTP\/1\.[01] (\d{3})( |$)/.exec(first)?.[1])
    if (end < 0 || !status) throw new Error(`no HTTP answer: ${JSON.stringify(rest.slice(0, 200))}`)
    const headers = new Headers(lines.map((line) => line.split(/: ?(.*)/s).slice(0, 2) as [string, string]))
    const { body, taken } = method === 'HEAD' ? { body: '', taken: 0 } : readBody(rest.slice(end + 4), headers)
    rest = rest.slice(end + 4 + taken)
    if (status >= 200) answers.push({ status, headers, body })
  }
  return answers
}

/** Reads a body by its length, by chunks, or to the end. */
function readBody(rest: string, headers: Headers): { body: string; taken: number } {
  if (headers.get('transfer-encoding') === 'chunked') return readChunks(rest)
  const length = headers.get('content-length')
  const taken = length === null ? bodyWithoutLength(rest) : Number(length)
  if (taken > rest.length) throw new Error(`half an answer: ${JSON.stringify(rest.slice(0, 200))}`)
  return { body: rest.slice(0, taken), taken }
}

/** Refusals by the server itself have no length: their body ends with the connection. */
const bodyWithoutLength = (rest: string): number => (rest.startsWith('HTTP/1.') ? 0 : rest.length)

function readChunks(text: string): { body: string; taken: number } {
  let [body, at] = ['', 0]
  for (;;) {
    const end = text.indexOf('\r\n', at)
    const size = Number.parseInt(text.slice(at, end), 16)
    if (end < 0 || Number.isNaN(size)) throw new Error(`a broken chunk: ${JSON.stringify(text.slice(at, at + 50))}`)
    body += text.slice(end + 2, end + 2 + size)
    at = end + 2 + size + 2
    if (size === 0) return { body, taken: at }
  }
}
