import { AggregatorRegistry } from 'prom-client'
import { expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { createMetrics } from '../../src/metrics.ts'

it('tells how many requests were answered by what was timed, also to two who ask at once', async () => {
  const { registry, requestSeconds } = createMetrics()
  const labels = { route: '/api/sdk/track', method: 'POST', status: 200 }
  for (const seconds of [0.001, 0.2]) requestSeconds.observe(labels, seconds)
  requestSeconds.observe({ ...labels, status: 503 }, 0.001)
  const ask = async () =>
    (await registry.metrics()).split('\n').filter((line) => line.startsWith('http_requests_total{'))
  const counts = [
    'http_requests_total{route="/api/sdk/track",method="POST",status="200"} 2',
    'http_requests_total{route="/api/sdk/track",method="POST",status="503"} 1',
  ]
  expect(await Promise.all([ask(), ask()])).toEqual([counts, counts])
  expect(await ask()).toEqual(counts)
})

it('tells the version, once for all threads of a process', async () => {
  const line = `build_info{version="${manifest.version}"} 1`
  expect(await createMetrics().registry.metrics()).toContain(line)
  const told = await Promise.all([1, 2, 3].map(() => createMetrics().registry.getMetricsAsJSON()))
  expect(await AggregatorRegistry.aggregate(told).metrics()).toContain(line)
})
