import type { Semaphore } from '../../async/semaphore.ts'
import type { Config } from '../../config.ts'
import type { Logger } from '../../log.ts'
import type { RenderService } from '../../messages/templates/renderer.ts'
import type { TargetGuard } from '../../outbound/target-guard.ts'
import type { Sql } from '../../stores/postgres.ts'
import type { DueFinder } from './find-due.ts'
import type { MessageBatches } from './message-batches.ts'
import type { Submit } from '../../stream/submit.ts'
import type { WakeUps } from '../../stores/wake-ups.ts'
import type { Transports } from './transports.ts'
import type { VersionCache } from './version-cache.ts'

export interface EngineDeps {
  sql: Sql
  log: Logger
  guard: TargetGuard
  renderer: RenderService
  /** Of its jobs: the renderer refuses too many of one business. */
  rendering: Semaphore
  config: Pick<Config, 'publicUrl' | 'port' | 'secretsKey' | 'messageKeepMs'>
  versions: VersionCache
  transports: Transports
  batches: MessageBatches
  /** Of this worker alone. */
  due: DueFinder
  /** To the live partition of a business, for what steps change about a contact. */
  submit: Submit
  wakeUps: WakeUps
  /** Epoch ms. */
  now: () => number
  /** How long a claim lasts. Longer than twice `attemptMs`. */
  leaseMs: number
  /** The time limit of one attempt. */
  attemptMs: number
  /**
   * How long a claim waits, with its contacts locked, until its messages are made. The others are sent after it, like those of other
   * providers: a template that runs away must not hold up who saves something of these contacts.
   */
  makeMs: number
}
