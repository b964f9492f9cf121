import { AggregatorRegistry } from 'prom-client'
import { expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { createMetrics } from '../../src/metrics.ts'
import { TIME_ZONES_VERSION } from '../../src/rules/time/zones.ts'

it('counts the requests answered, refusals by their code, also for two readers at once', async () => {
  const { registry, requestSeconds, requests } = createMetrics()
  const labels = { route: '/api/sdk/track', method: 'POST', status: 200 }
  for (const seconds of [0.001, 0.2]) requestSeconds.observe(labels, seconds)
  for (const code of ['unavailable', 'outcome_unknown', 'unavailable']) {
    requestSeconds.observe({ ...labels, status: 503 }, 0.001)
    requests.countRefusal({ ...labels, status: 503, code })
  }
  const ask = async () =>
    (await registry.metrics()).split('\n').filter((line) => line.startsWith('http_requests_total{'))
  const counts = [
    'http_requests_total{route="/api/sdk/track",method="POST",status="200",code=""} 2',
    'http_requests_total{route="/api/sdk/track",method="POST",status="503",code="unavailable"} 2',
    'http_requests_total{route="/api/sdk/track",method="POST",status="503",code="outcome_unknown"} 1',
  ]
  expect(await Promise.all([ask(), ask()])).toEqual([counts, counts])
  expect(await ask()).toEqual(counts)
})

it('shows the version, once for all threads of a process', async () => {
  const line = `build_info{version="${manifest.version}",time_zones="${TIME_ZONES_VERSION}"} 1`
  expect(await createMetrics().registry.metrics()).toContain(line)
  const counted = await Promise.all([1, 2, 3].map(() => createMetrics().registry.getMetricsAsJSON()))
  expect(await AggregatorRegistry.aggregate(counted).metrics()).toContain(line)
})
