import type { Semaphores } from '../../async/semaphore.ts'
import type { Transports } from '../../campaigns/engine/send/transports.ts'
import type { Config } from '../../config.ts'
import type { Logger } from '../../log.ts'
import type { RenderService } from '../../messages/templates/renderer.ts'
import type { TargetGuard } from '../../outbound/target-guard.ts'
import type { Sql } from '../../stores/postgres.ts'
import type { WakeUps } from '../../stores/wake-ups.ts'

export interface CallEngineDeps {
  sql: Sql
  log: Logger
  guard: TargetGuard
  /** Its own, so that no campaign of the business is in the way of a call; and so are the transports. */
  renderer: RenderService
  rendering: Semaphores
  transports: Transports
  config: Pick<Config, 'publicUrl' | 'port' | 'secretsKey'>
  wakeUps: WakeUps
  /** Reports settled messages to callers who wait. */
  report: (messageIds: readonly string[]) => void
  /** Epoch milliseconds. */
  now: () => number
  /** Duration of a claim in milliseconds. Longer than twice `attemptMs`. */
  leaseMs: number
  /** Time limit of one attempt, in milliseconds. */
  attemptMs: number
}
