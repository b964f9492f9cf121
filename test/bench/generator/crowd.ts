/** Callers on connections of their own, each with one request at a time. */
import { type Connection, connect } from './connection.ts'

export interface Crowd<Ticket> {
  /** How many have nothing under way. */
  free(): number
  underWay(): number
  /** By one that is free; the ticket comes back with what becomes of the request. */
  send(request: string, ticket: Ticket): void
}

export interface Outcomes<Ticket> {
  /** The bytes of the answer stay as they are during the call alone. */
  answered(ticket: Ticket, status: number, answer: Buffer): void
  /** The connection ended before the answer; another takes its place. */
  broken(ticket: Ticket): void
}

/** Resolves when all are connected. */
export async function openCrowd<Ticket>(url: URL, size: number, outcomes: Outcomes<Ticket>): Promise<Crowd<Ticket>> {
  // In turn: one that is idle for long would be ended by the server, perhaps just as it sends.
  const free = new Set<Connection>()
  const busy = new Map<Connection, Ticket>()

  const open = async (): Promise<void> => {
    const connection = await connect(url, {
      onAnswer(status, answer) {
        const ticket = busy.get(connection)
        if (ticket === undefined) throw new Error('An answer that nobody asked for')
        busy.delete(connection)
        free.add(connection)
        outcomes.answered(ticket, status, answer)
      },
      onEnd() {
        const ticket = busy.get(connection)
        busy.delete(connection)
        free.delete(connection)
        open().catch(() => undefined)
        if (ticket !== undefined) outcomes.broken(ticket)
      },
    })
    free.add(connection)
  }
  for (let at = 0; at < size; at += 1) await open()

  return {
    free: () => free.size,
    underWay: () => busy.size,
    send(request, ticket) {
      const [connection] = free
      if (!connection) throw new Error('Nobody is free')
      free.delete(connection)
      busy.set(connection, ticket)
      connection.send(request)
    },
  }
}
