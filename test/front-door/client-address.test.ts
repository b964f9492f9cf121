import { expect, it } from 'vitest'
import { handleRequest } from '../../src/front-door/http/handle-request.ts'
import { clientAddress, networkOf } from '../../src/front-door/http/client-address.ts'
import type { RequestContext, AppContext } from '../../src/front-door/app-context.ts'
import { createLogger } from '../../src/log.ts'
import { createMetrics } from '../../src/metrics.ts'

it.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['1::2:3:4:5:6:7', '1:0:2:3::/64'],
  ['unknown', 'unknown'],
])('limits %s as %s', (address, network) => {
  expect(networkOf(address)).toBe(network)
})

it.each([
  ['198.51.100.1', 1, '198.51.100.1'],
  ['203.0.113.9, 198.51.100.1', 1, '198.51.100.1'],
  ['203.0.113.9, 198.51.100.1', 2, '203.0.113.9'],
  ['made up, 203.0.113.9,198.51.100.1', 2, '203.0.113.9'],
  ['198.51.100.1', 3, '198.51.100.1'],
  ['198.51.100.1:5512', 1, '198.51.100.1'],
  ['2001:db8::1', 1, '2001:db8::1'],
  ['[2001:db8::1]:443', 1, '2001:db8::1'],
  ['[2001:db8::1]', 1, '2001:db8::1'],
  ['', 1, 'unknown'],
  ['198.51.100.1,', 1, 'unknown'],
  ['_hidden', 1, 'unknown'],
  ['x'.repeat(5000), 1, 'unknown'],
  ['203.0.113.9', 0, '192.0.2.1'],
])('takes %j behind %i proxies as %s', (forwarded, trustProxy, address) => {
  const request = new Request('http://x', { headers: { 'x-forwarded-for': forwarded } })
  expect(clientAddress(Object.assign(request, { ip: '192.0.2.1' }), { trustProxy })).toBe(address)
})

it('is the peer for a caller that came through no proxy', () => {
  const request = Object.assign(new Request('http://x'), { ip: '192.0.2.1' })
  expect(clientAddress(request, { trustProxy: 1 })).toBe('192.0.2.1')
  expect(clientAddress(new Request('http://x'), { trustProxy: 0 })).toBe('unknown')
})

it('stays what it was for the whole call, when the caller has gone meanwhile', async () => {
  let ip: string | undefined = '192.0.2.1'
  const request = Object.defineProperty(new Request('http://x'), 'ip', { get: () => ip })
  const frontDoor = {
    config: { maxInFlight: 1, trustProxy: 0 },
    inFlight: { count: 0, bytes: 0, bytesOf: new Map() },
    metrics: createMetrics(),
    log: createLogger({ level: 'silent', name: 'test' }),
    now: Date.now,
  } as unknown as AppContext
  const seen: string[] = []
  const answer = (_: AppContext, { address }: RequestContext) => {
    seen.push(address())
    ip = undefined
    seen.push(address())
    return Promise.resolve({ message: '', data: {} })
  }
  await handleRequest(frontDoor, { route: '/x', answer }, request, {})
  expect(seen).toEqual(['192.0.2.1', '192.0.2.1'])
})
