/** Mail servers for tests: a real one, and one that misbehaves as scripted. */
import { once } from 'node:events'
import { type AddressInfo, type Socket, createServer } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

export interface HeardMail {
  from: string
  to: string[]
  user: string | undefined
  isSecure: boolean
  /** As it was received, headers first. */
  raw: string
}

export interface MailServer {
  port: number
  heard: HeardMail[]
  connections: () => number
  close(): Promise<void>
}

/** Has one user: `shop`, with the password `open sesame`. */
export async function openMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const heard: HeardMail[] = []
  let connections = 0
  const server = new SMTPServer({
    authOptional: true,
    hideSTARTTLS: true,
    allowInsecureAuth: true,
    // For connections that are kept open for another mail. The default is 30 s.
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

/** The server's behaviour at a step: `hang up`, `say nothing`, or the line that it sends. */
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
  /** Hangs up within a message when more than this number of bytes has arrived. */
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
  /** The commands that it has received. */
  commands: string[]
  /** Returns the number of complete messages that it has received. */
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
