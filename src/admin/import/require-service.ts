import { connect } from 'node:net'
import { CommandError } from '../command.ts'

const CONNECT_TIMEOUT_MS = 5_000

/**
 * Throws CommandError `unavailable` when nothing accepts a connection at `url` within 5 s, because the import retries
 * only a service that has answered before.
 */
export async function requireService(url: string): Promise<void> {
  const { hostname, port, protocol } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  const socket = connect({ host, port: Number(port) || (protocol === 'https:' ? 443 : 80) })
  const code = await new Promise<string | undefined>((resolve) => {
    socket.once('connect', () => resolve(undefined))
    // A firewall may drop packets without a reply.
    socket.setTimeout(CONNECT_TIMEOUT_MS, () => resolve('ETIMEDOUT'))
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
  })
  socket.destroy()
  if (code !== undefined)
    throw new CommandError(
      'unavailable',
      `Nothing answers at ${url} (${code}). Give the address of the service with --url, or set the same PORT as for \`start\``,
    )
}
