/**
 * Keeps events with one idempotency key in their order. The service records the first one that it gets, so a later one
 * must not overtake it in another request.
 */
import type { Failure } from './answer.ts'
import type { Chunk } from './cut-chunks.ts'

type Send = (chunk: Chunk) => Promise<Failure | undefined>

/** Sends like `send`, but a chunk waits for earlier ones that have one of its keys. If one of those fails, so does it. */
export function keepKeyOrder(send: Send): Send {
  const inFlight = new Set<{ keys: ReadonlySet<string>; sent: Promise<Failure | undefined> }>()
  return async (chunk) => {
    const { keys } = chunk
    const earlier = [...inFlight].filter((one) => [...keys].some((key) => one.keys.has(key)))
    const sendInTurn = async (): Promise<Failure | undefined> => {
      const failures = await Promise.all(earlier.map(({ sent }) => sent))
      return failures.find(Boolean) ?? (await send(chunk))
    }
    const own = { keys, sent: sendInTurn() }
    inFlight.add(own)
    try {
      return await own.sent
    } finally {
      inFlight.delete(own)
    }
  }
}
