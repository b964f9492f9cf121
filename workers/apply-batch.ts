import { type WebDeps, applyWebBatch } from '../src/web-events/apply-web-batch.ts'
import type { MicroBatch, Outcome } from '../src/stream/micro-batch.ts'
import { kindOf } from '../src/stream/partitions/partition-of.ts'
import type { PipelineDeps } from './attempt.ts'
import { applyMicroBatch } from './pipeline.ts'

/** Applies a micro-batch by the kind of its partition: events go to Postgres, web events to ClickHouse. */
export function applyBatch(
  { pipeline, web }: { pipeline: PipelineDeps; web: WebDeps },
  batch: MicroBatch,
  signal: AbortSignal,
  beat: () => void,
): Promise<Outcome> {
  return kindOf(batch.partition) === 'web'
    ? applyWebBatch(web, batch, signal, beat)
    : applyMicroBatch(pipeline, batch, signal, beat)
}
