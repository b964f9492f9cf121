/** Callers on separate connections, each with one request at a time. */
import { type Connection, connect } from './connection.ts'

export interface Crowd<Ticket> {
  /** Number of callers without a request in flight. */
  free(): number
  underWay(): number
  /** Sends by a free caller. The outcome of the request is reported with its ticket. */
  send(request: string, ticket: Ticket): void
}

export interface Outcomes<Ticket> {
  /** The bytes of the response are valid only during the call. */
  answered(ticket: Ticket, status: number, answer: Buffer): void
  /** The connection ended before the response. Another one replaces it. */
  broken(ticket: Ticket): void
}

/** Resolves when all are connected. */
export async function openCrowd<Ticket>(url: URL, size: number, outcomes: Outcomes<Ticket>): Promise<Crowd<Ticket>> {
  // Used in rotation: the server would end a connection that is idle for long, perhaps just as it sends.
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
