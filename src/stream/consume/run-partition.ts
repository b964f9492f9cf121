import type { LoopHeartbeat } from './watch-loops.ts'
import { type ConsumeDeps, consumePartition } from './consume.ts'
import type { LeaseRenewer } from '../leases/renew-leases.ts'
import { type Lease, releaseLease } from '../leases/lease.ts'
import type { ApplyMicroBatch } from '../micro-batch.ts'
import type { StreamReader } from './stream-reader.ts'

export interface PartitionRun {
  lease: Lease
  heartbeat: LoopHeartbeat
  reader: StreamReader
  /** Called after each micro-batch that was applied. */
  onApplied: () => void
}

/** Runs the loop of one partition, from the lease to its release. */
export async function runPartition(
  deps: Omit<ConsumeDeps, 'reader' | 'beat'>,
  renewer: LeaseRenewer,
  { lease, heartbeat, reader, onApplied }: PartitionRun,
  stop: AbortController,
): Promise<void> {
  const { partition } = lease
  const onStop = (): void => reader.close()
  stop.signal.addEventListener('abort', onStop)
  const over = new AbortController()
  const renewing = renewer.keep(lease, heartbeat, over.signal)
  try {
    const consuming = consumePartition(
      {
        ...deps,
        apply: watched(deps.apply, heartbeat, onApplied),
        reader,
        beat: () => (heartbeat.lastProgressAt = performance.now()),
      },
      lease,
      stop.signal,
    )
    const how = await Promise.race([consuming, renewing.then(() => stopBecauseLost(consuming, stop))])
    if (how === 'fenced')
      deps.log.warn({ partition, epoch: lease.epoch }, 'the partition was taken away, or another owner has it')
  } finally {
    over.abort()
    // This also stops a loop that counts as dead, and closes the reader.
    stop.abort()
    await releaseLease(deps.sql, lease).catch((error: unknown) => {
      deps.log.warn({ err: error, partition }, 'a lease was not released; it ends by itself')
    })
  }
}

/** Wraps `apply`, and records in the heartbeat when a batch started. */
const watched =
  (apply: ApplyMicroBatch, heartbeat: LoopHeartbeat, onApplied: () => void): ApplyMicroBatch =>
  async (...batch) => {
    heartbeat.workingSince = performance.now()
    try {
      const outcome = await apply(...batch)
      if (outcome.kind === 'applied') {
        heartbeat.position = batch[0].to
        onApplied()
      }
      return outcome
    } finally {
      heartbeat.workingSince = undefined
    }
  }

async function stopBecauseLost(consuming: Promise<string>, stop: AbortController): Promise<string> {
  stop.abort()
  await consuming
  return 'fenced'
}
