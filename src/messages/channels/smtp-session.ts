/** One connection to an SMTP server. */
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import SMTPConnection from 'nodemailer/lib/smtp-connection'
import { raceAbort } from '../../async/race-abort.ts'
import { addressKind } from '../../outbound/address-kind.ts'
import { describeNetworkError } from '../../outbound/post.ts'
import { RefusedTargetError, resolveTarget } from '../../outbound/resolve-target.ts'
import type { TargetGuard } from '../../outbound/target-guard.ts'
import type { Blame } from '../../rules/messages/blame.ts'
import { blameOfReply } from '../../rules/messages/refused-reply.ts'
import type { SendOutcome } from './provider.ts'

export interface SmtpServer {
  /** Host and port of the server. */
  url: URL
  /** True when the connection is encrypted from the start. */
  isSecure: boolean
  login?: { user: string; pass: string }
}

/** `from` and `to` are the addresses of the envelope. */
export interface Mail {
  from: string
  to: string[]
  content: Buffer
}

export interface Receipt {
  /** The server's replies so far. */
  words: string
  providerMessageId?: string
}

export class SmtpFailure extends Error {
  override name = 'SmtpFailure'
  readonly kind: Exclude<SendOutcome['kind'], 'accepted'>

  /** Who is to blame for a refusal. */
  readonly blame: Blame | undefined
  readonly contact: SendOutcome['contact']

  constructor(
    kind: SmtpFailure['kind'],
    words: string,
    { blame, contact }: Pick<SendOutcome, 'blame' | 'contact'> = {},
  ) {
    super(words)
    this.kind = kind
    this.blame = blame
    this.contact = contact
  }
}

export interface SmtpSession {
  /** Rejects with SmtpFailure; then the session is closed. */
  send(mail: Mail, signal: AbortSignal): Promise<Receipt>
  isOpen(): boolean
  close(): void
}

/** An error of nodemailer. */
interface Reported extends Error {
  code?: string
  originalCode?: string
  /** Reply code of the server. */
  response?: string
  responseCode?: number
  /** `CONN` when the connection broke off. */
  command?: string
}

/**
 * Greets, encrypts and logs in. Rejects with SmtpFailure, always of the kind `temporary`: no message was handed over,
 * and all messages would fail until an operator corrects the settings.
 */
export async function openSession(server: SmtpServer, guard: TargetGuard, signal: AbortSignal): Promise<SmtpSession> {
  let connection: SMTPConnection | undefined
  try {
    const socket = await openSocket(server.url, guard, signal)
    connection = createConnection(server, socket)
    await raceAbort(greet(connection, socket, server), signal)
  } catch (error) {
    connection?.close()
    const hasAnswered = ((error as Reported).responseCode ?? 0) > 0
    throw new SmtpFailure('temporary', describe(error), hasAnswered ? {} : { contact: 'none' })
  }
  return createSession(connection)
}

/** Connects to one of the checked addresses, in their order. */
async function openSocket(url: URL, guard: TargetGuard, signal: AbortSignal): Promise<Socket> {
  const port = Number(url.port) || 80
  let failure: unknown
  for (const { address } of await resolveTarget(url, guard, signal)) {
    signal.throwIfAborted()
    try {
      return await connectTo(address, port, signal)
    } catch (error) {
      signal.throwIfAborted()
      failure = error
    }
  }
  throw failure
}

function connectTo(host: string, port: number, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port })
    const abort = () => socket.destroy(signal.reason as Error)
    const end = (settle: () => void) => {
      signal.removeEventListener('abort', abort)
      socket.removeAllListeners('error').removeAllListeners('connect')
      // Until nodemailer listens.
      socket.on('error', () => undefined)
      settle()
    }
    signal.addEventListener('abort', abort)
    socket.once('connect', () => end(() => resolve(socket)))
    socket.once('error', (error) => end(() => reject(error)))
  })
}

/** A password is never sent over a network unencrypted. */
export const mustEncrypt = (login: SmtpServer['login'], address: string): boolean =>
  login !== undefined && addressKind(address) !== 'loopback'

function createConnection({ url, isSecure, login }: SmtpServer, socket: Socket): SMTPConnection {
  return new SMTPConnection({
    connection: socket,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port) || 80,
    secure: isSecure,
    requireTLS: mustEncrypt(login, socket.remoteAddress ?? ''),
  })
}

function greet(connection: SMTPConnection, socket: Socket, { login }: SmtpServer): Promise<void> {
  return new Promise((resolve, reject) => {
    const close = () => reject(new SmtpFailure('temporary', 'the server closed the connection'))
    connection.on('error', reject)
    connection.on('end', close)
    // nodemailer listens later.
    socket.once('close', close)
    connection.connect((failed) => {
      if (failed) reject(failed)
      else if (login) connection.login(login, (wrong) => (wrong ? reject(wrong) : resolve()))
      else resolve()
    })
  })
}

function createSession(connection: SMTPConnection): SmtpSession {
  return {
    isOpen: () => !connection.destroyed,
    close: () => connection.close(),
    async send({ content, ...envelope }, signal) {
      const source = Readable.from(inPieces(content))
      let isHandedOver = false
      // Then nodemailer writes the final dot.
      source.once('end', () => (isHandedOver = true))
      try {
        return await raceAbort(handOver(connection, envelope, source), signal)
      } catch (error) {
        connection.close()
        const kind = kindOf(error as Reported, isHandedOver)
        throw new SmtpFailure(kind, describe(error), kind === 'refused' ? { blame: blameFor(error as Reported) } : {})
      }
    },
  }
}

const PIECE_BYTES = 16_384

/** So that the end is not read before most of the message is written. */
function* inPieces(content: Buffer): Generator<Buffer> {
  for (let at = 0; at < content.length; at += PIECE_BYTES) yield content.subarray(at, at + PIECE_BYTES)
}

function handOver(connection: SMTPConnection, envelope: Omit<Mail, 'content'>, source: Readable): Promise<Receipt> {
  return new Promise((resolve, reject) => {
    connection.send(envelope, source, (error, info) => {
      if (error || !info) return reject(error ?? new Error('nodemailer reported nothing'))
      const { response, serverMessageId: providerMessageId } = info
      resolve({ words: response, ...(providerMessageId !== undefined && { providerMessageId }) })
    })
  })
}

/** For a message whose sending has begun. The reply of a connection that broke off may refer to anything. */
export function kindOf({ code, responseCode = 0, command }: Reported, isHandedOver: boolean): SmtpFailure['kind'] {
  const reply = command === 'CONN' ? 0 : responseCode
  if (reply >= 400 && reply < 600) return reply < 500 ? 'temporary' : 'refused'
  if (isHandedOver) return 'unknown'
  // There is no reply: nodemailer has found that the server cannot accept such an address or message.
  return code === 'EENVELOPE' || code === 'EMESSAGE' ? 'refused' : 'temporary'
}

/**
 * Who is to blame for a permanent refusal. A reply to MAIL is about the sender. Without a reply, the server does not
 * accept such an address.
 */
export function blameFor({ code, response = '', command = '' }: Reported): Blame {
  if (response === '') return code === 'EENVELOPE' ? 'recipient' : 'sender'
  if (command === 'MAIL FROM') return 'sender'
  return blameOfReply({ reply: response, isAtRecipient: command === 'RCPT TO' }) ?? 'sender'
}

const REPLY = /^\d{3}([ -]|$)/

/** A server that is none of SMTP is not quoted: it may be one that the business should not read. */
function describe(error: unknown): string {
  if (error instanceof SmtpFailure || error instanceof RefusedTargetError) return error.message
  const { message, code, originalCode, response } = error as Reported
  if (response?.split(/\r?\n/).every((line) => line === '' || REPLY.test(line)) === false)
    return 'the server does not speak SMTP'
  if (code === 'ETLS' || (response !== undefined && /STARTTLS/.test(message))) return `not encrypted: ${message}`
  if (response !== undefined && response !== '') return response
  if (code === 'EENVELOPE' || code === 'EMESSAGE') return message
  return describeNetworkError(originalCode === undefined ? error : { code: originalCode })
}
