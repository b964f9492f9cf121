/**
 * Metrics are only for callers on this machine, or with METRICS_TOKEN: at the front door (callers.test.ts) and at the
 * workers.
 */
import { afterEach, describe, expect, it } from 'vitest'
import { hasMetricsToken, isLoopback } from '../../src/process/metrics-access.ts'
import { type HealthServer, serveHealth } from '../../workers/serve-health.ts'

describe('a caller', () => {
  it.each([
    ['127.0.0.1', [], true],
    ['127.9.9.9', [], true],
    ['::1', [], true],
    ['::ffff:127.0.0.1', [], true],
    ['::ffff:198.51.100.1', [], false],
    ['198.51.100.1', [], false],
    ['12.7.0.1', [], false],
    ['1127.0.0.1', [], false],
    ['::11', [], false],
    ['', [], false],
    ['unknown', [], false],
    ...[
      'x-forwarded-for',
      'x-forwarded-host',
      'x-forwarded-proto',
      'x-forwarded-server',
      'x-real-ip',
      'forwarded',
      'via',
    ].map((header): [string, string[], boolean] => ['127.0.0.1', [header], false]),
  ])('from %j with %j is of this machine: %s', (peer, headers, local) => {
    expect(isLoopback(peer, (name) => headers.includes(name))).toBe(local)
  })

  it.each<[string | undefined, string | undefined, boolean]>([
    ['Bearer token', 'token', true],
    ['Bearer token', undefined, false],
    [undefined, undefined, false],
    [undefined, 'token', false],
    ['Bearer undefined', undefined, false],
    ['Bearer toke', 'token', false],
    ['Bearer tokens', 'token', false],
    ['bearer token', 'token', false],
    ['token', 'token', false],
    ['Bearer ', 'token', false],
    ['', 'token', false],
    ['Bearer tökën', 'tökën', true],
  ])('with %j brings the token %j: %s', (authorization, token, brings) => {
    expect(hasMetricsToken(authorization, token)).toBe(brings)
  })
})

describe('the workers', () => {
  let server: HealthServer
  afterEach(() => server.close())
  const sources = { problems: () => [], degraded: () => [], metrics: () => Promise.resolve('figures\n') }
  const ask = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { headers })
    return [response.status, await response.text()]
  }

  it('show their figures to this machine, and through a proxy to the token alone', async () => {
    server = await serveHealth({ ...sources, metricsToken: 'token' }, '127.0.0.1', 0)
    const via = { via: '1.1 proxy' }
    expect(await ask('/metrics')).toEqual([200, 'figures\n'])
    expect(await ask('/metrics', via)).toEqual([404, 'not found\n'])
    expect(await ask('/metrics', { ...via, authorization: 'Bearer nothing' })).toEqual([404, 'not found\n'])
    expect(await ask('/metrics', { ...via, authorization: 'Bearer token' })).toEqual([200, 'figures\n'])
  })

  it('show them to no caller behind a proxy when there is no token, and have no other page', async () => {
    server = await serveHealth({ ...sources, metricsToken: undefined }, '127.0.0.1', 0)
    expect(await ask('/metrics', { via: 'a', authorization: 'Bearer undefined' })).toEqual([404, 'not found\n'])
    for (const path of ['/', '/debug', '/api/campaigns', '/metrics/..']) expect((await ask(path))[0]).toBe(404)
    expect(await ask('/healthz', { via: 'a' })).toEqual([200, 'ok\n'])
  })
})
