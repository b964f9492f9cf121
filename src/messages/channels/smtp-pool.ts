/** Connections to one SMTP server, reused for the next messages. */
import type { TargetGuard } from '../../outbound/target-guard.ts'
import { type Mail, type Receipt, type SmtpServer, type SmtpSession, SmtpFailure, openSession } from './smtp-session.ts'

/** Maximum number at a time. */
export const MAX_SESSIONS = 5
/** Messages per connection, because servers limit them, too. */
export const MAX_USES = 100
/** Milliseconds that an unused connection stays open: less than the time after which servers close it. */
const IDLE_MS = 15_000

export interface SmtpPool {
  /** Waits for a connection. Rejects with SmtpFailure. */
  send(mail: Mail, signal: AbortSignal): Promise<Receipt>
  close(): void
}

interface PooledSession {
  session: SmtpSession
  uses: number
  timer?: NodeJS.Timeout
}

export function createSmtpPool(server: SmtpServer, guard: TargetGuard): SmtpPool {
  const idle: PooledSession[] = []
  const waiting = new Set<() => void>()
  let inUse = 0

  async function takeTurn(signal: AbortSignal): Promise<void> {
    if (inUse < MAX_SESSIONS) {
      inUse += 1
      return
    }
    await new Promise<void>((resolve, reject) => {
      const begin = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = () => {
        waiting.delete(begin)
        reject(new SmtpFailure('temporary', 'no connection became free in time', { contact: 'untried' }))
      }
      waiting.add(begin)
      if (signal.aborted) leave()
      else signal.addEventListener('abort', leave, { once: true })
    })
  }
  function endTurn(): void {
    const [next] = waiting
    if (next === undefined) {
      inUse -= 1
      return
    }
    waiting.delete(next)
    next()
  }
  function takeIdle(): PooledSession | undefined {
    for (let kept = idle.pop(); kept; kept = idle.pop()) {
      clearTimeout(kept.timer)
      if (kept.session.isOpen()) return kept
    }
    return undefined
  }
  function keep(kept: PooledSession): void {
    if (kept.uses >= MAX_USES || !kept.session.isOpen()) return kept.session.close()
    kept.timer = setTimeout(() => {
      idle.splice(idle.indexOf(kept), 1)
      kept.session.close()
    }, IDLE_MS)
    kept.timer.unref()
    idle.push(kept)
  }

  return {
    async send(mail, signal) {
      await takeTurn(signal)
      try {
        const kept = takeIdle() ?? { session: await openSession(server, guard, signal), uses: 0 }
        kept.uses += 1
        const receipt = await kept.session.send(mail, signal)
        keep(kept)
        return receipt
      } finally {
        endTurn()
      }
    },
    close() {
      for (let kept = takeIdle(); kept; kept = takeIdle()) kept.session.close()
    },
  }
}
