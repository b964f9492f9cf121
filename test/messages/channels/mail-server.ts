/** Mail servers of the tests: a real one, and one that misbehaves as it is written. */
import { once } from 'node:events'
import { type AddressInfo, type Socket, createServer } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

export interface HeardMail {
  from: string
  to: string[]
  user: string | undefined
  isSecure: boolean
  /** As it came, headers first. */
  raw: string
}

export interface MailServer {
  port: number
  heard: HeardMail[]
  connections: () => number
  close(): Promise<void>
}

/** Knows one user: `shop`, with the password `open sesame`. */
export async function openMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const heard: HeardMail[] = []
  let connections = 0
  const server = new SMTPServer({
    authOptional: true,
    hideSTARTTLS: true,
    allowInsecureAuth: true,
    // Of connections that are kept for a next mail: 30 s without it.
    closeTimeout: 50,
    onConnect(_, done) {
      connections += 1
      done()
    },
    onAuth({ username, password }, _, done) {
      const isRight = username === 'shop' && password === 'open sesame'
      if (isRight) done(null, { user: username })
      else done(new Error('wrong user or password'))
    },
    onData(stream, { envelope, user, secure }, done) {
      let raw = ''
      stream.on('data', (chunk: Buffer) => (raw += chunk.toString()))
      stream.on('end', () => {
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address
        heard.push({
          from,
          to: envelope.rcptTo.map(({ address }) => address),
          user: user as string | undefined,
          isSecure: secure,
          raw,
        })
        done()
      })
    },
    ...options,
  })
  server.on('error', () => undefined)
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  return {
    port: (server.server.address() as AddressInfo).port,
    heard,
    connections: () => connections,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

/** What a server does at a step: `hang up`, `say nothing`, or the line that it says. */
export type Step = string
export interface Script {
  greeting?: Step
  EHLO?: Step
  MAIL?: Step
  RCPT?: Step
  DATA?: Step
  /** After the final dot. */
  message?: Step
}

interface Cut {
  /** Hangs up in the middle of a message when more bytes than this have come. */
  cutAfter?: number
}

const RIGHT: Required<Script> = {
  greeting: '220 test',
  EHLO: '250 test',
  MAIL: '250 OK',
  RCPT: '250 OK',
  DATA: '354 go on',
  message: '250 OK',
}

export interface ScriptedServer {
  port: number
  /** The commands that it has heard. */
  commands: string[]
  /** Whole messages that have come. */
  messages: () => number
  close(): Promise<void>
}

export async function openScriptedServer(script: Script, { cutAfter = Infinity }: Cut = {}): Promise<ScriptedServer> {
  const steps = { ...RIGHT, ...script }
  const sockets = new Set<Socket>()
  const commands: string[] = []
  let messages = 0
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    let isInMessage = false
    let buffered = ''
    const take = (step: Step) => {
      if (step === 'hang up') socket.destroy()
      else if (step !== 'say nothing') socket.write(`${step}\r\n`)
    }
    take(steps.greeting)
    socket.on('data', (chunk: Buffer) => {
      buffered += chunk.toString()
      for (;;) {
        const end = isInMessage ? '\r\n.\r\n' : '\r\n'
        const at = buffered.indexOf(end)
        if (at < 0) {
          if (isInMessage && buffered.length > cutAfter) socket.destroy()
          return
        }
        const said = buffered.slice(0, at)
        buffered = buffered.slice(at + end.length)
        if (isInMessage) messages += 1
        else commands.push(said)
        const verb = isInMessage ? 'message' : (said.split(' ')[0]?.toUpperCase() ?? '')
        isInMessage = false
        const step = steps[verb as keyof Script] ?? '250 OK'
        isInMessage = verb === 'DATA' && step.startsWith('354')
        take(step)
      }
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    commands,
    messages: () => messages,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
