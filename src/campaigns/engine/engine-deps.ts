import type { Semaphores } from '../../async/semaphore.ts'
import type { Config } from '../../config.ts'
import type { Logger } from '../../log.ts'
import type { RenderService } from '../../messages/templates/renderer.ts'
import type { TargetGuard } from '../../outbound/target-guard.ts'
import type { Sql } from '../../stores/postgres.ts'
import type { DueFinder } from './claim/find-due.ts'
import type { MessageBatches } from './send/message-batches.ts'
import type { Submit } from '../../stream/publish/submit.ts'
import type { WakeUps } from '../../stores/wake-ups.ts'
import type { Transports } from './send/transports.ts'
import type { VersionCache } from './claim/version-cache.ts'

export interface EngineDeps {
  sql: Sql
  log: Logger
  guard: TargetGuard
  renderer: RenderService
  /** Limits the renderer's jobs per business, because the renderer rejects more than that. */
  rendering: Semaphores
  config: Pick<Config, 'publicUrl' | 'port' | 'secretsKey' | 'messageKeepMs'>
  versions: VersionCache
  transports: Transports
  batches: MessageBatches
  /** Belongs to this worker alone. */
  due: DueFinder
  /** Submits changes of contacts by steps to the live partition of a business. */
  submit: Submit
  wakeUps: WakeUps
  /** Epoch milliseconds. */
  now: () => number
  /** Duration of a claim in milliseconds. Longer than twice `attemptMs`. */
  leaseMs: number
  /** Time limit of one attempt, in milliseconds. */
  attemptMs: number
}
