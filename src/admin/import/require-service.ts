import { connect } from 'node:net'
import { CommandError } from '../command.ts'

const PATIENCE_MS = 5_000

/** Patience is for a service that was there. Throws CommandError `unavailable` when nobody takes a connection there within 5 s. */
export async function requireService(url: string): Promise<void> {
  const { hostname, port, protocol } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  const socket = connect({ host, port: Number(port) || (protocol === 'https:' ? 443 : 80) })
  const code = await new Promise<string | undefined>((resolve) => {
    socket.once('connect', () => resolve(undefined))
    // A network may drop what it does not like without a word.
    socket.setTimeout(PATIENCE_MS, () => resolve('ETIMEDOUT'))
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
  })
  socket.destroy()
  if (code !== undefined)
    throw new CommandError(
      'unavailable',
      `Nobody answers at ${url} (${code}): say where the service is with --url, or set PORT as it is for \`start\``,
    )
}
