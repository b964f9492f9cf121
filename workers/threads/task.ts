/**
 * The functions that Piscina calls: one per long-running task. Signals do not cross threads, so the supervisor sends
 * commands through a port. The thread sends heartbeats through the same port, and metrics on request.
 */
import { type ThreadTask, type ThreadCommand, type ThreadReport, type ThreadBody } from './thread.ts'
import { createLogger } from '../../src/log.ts'
import { createMetrics } from '../../src/metrics.ts'
import { sleep } from '../../src/async/sleep.ts'
import { failingPools } from '../../src/stores/connection-health.ts'

/** Milliseconds between heartbeats. */
const REPORT_MS = 2000

// Each thread loads only the code that it runs, because loading takes most of the time of its start.
export const ingest = async (task: ThreadTask): Promise<void> =>
  runTask(task, 'ingest', (await import('./ingest.ts')).runUrgentIngest)
export const lowPriorityIngest = async (task: ThreadTask): Promise<void> =>
  runTask(task, 'lowPriorityIngest', (await import('./ingest.ts')).runLowPriorityIngest)
export const timeline = async (task: ThreadTask): Promise<void> =>
  runTask(task, 'timeline', (await import('./timeline.ts')).runTimeline)
export const segments = async (task: ThreadTask): Promise<void> =>
  runTask(task, 'segments', (await import('./segments.ts')).runSegments)
export const campaigns = async (task: ThreadTask): Promise<void> =>
  runTask(task, 'campaigns', (await import('./campaigns.ts')).runCampaigns)
export const deliveries = async (task: ThreadTask): Promise<void> =>
  runTask(task, 'deliveries', (await import('./deliveries.ts')).runDeliveries)

/** A pool of connections that Postgres has not answered for this long is reported. */
const FAILING_MS = 10_000

function describeFailing(): string | undefined {
  const pools = failingPools(FAILING_MS)
  return pools.length === 0 ? undefined : `postgres: no connection for ${pools.join(', ')}`
}

async function runTask({ name, config, port }: ThreadTask, kind: string, body: ThreadBody): Promise<void> {
  const log = createLogger({ level: config.logLevel, name: kind })
  const metrics = createMetrics()
  // Memory belongs to the process, so the supervisor reports it.
  metrics.registry.removeSingleMetric('process_resident_memory_bytes')
  const stopping = new AbortController()
  let trouble: string | undefined
  let blocked: string | undefined
  const report = (figures?: object[]): void =>
    port.postMessage({
      trouble,
      blocked: blocked ?? describeFailing(),
      ...(figures && { metrics: figures }),
    } satisfies ThreadReport)
  const reportDegraded = (found: string | undefined): void => {
    if (found === trouble) return
    trouble = found
    report()
  }
  const reportBlocked = (found: string | undefined): void => {
    if (found === blocked) return
    blocked = found
    report()
  }
  port.on('message', (command: ThreadCommand) => {
    if (command === 'stop') stopping.abort()
    else void metrics.registry.getMetricsAsJSON().then(report)
  })
  const ended = new AbortController()
  const keepReporting = async (): Promise<void> => {
    for (;;) {
      await sleep(REPORT_MS, ended.signal)
      if (ended.signal.aborted) return
      report()
    }
  }
  void keepReporting()
  try {
    await body(config, { name, log, metrics, reportDegraded, reportBlocked }, stopping.signal)
  } finally {
    ended.abort()
    port.close()
  }
}
