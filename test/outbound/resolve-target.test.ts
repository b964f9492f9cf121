/** Which addresses are refused. A connection goes to the address that was checked. */
import { networkInterfaces } from 'node:os'
import { describe, expect, it } from 'vitest'
import { post } from '../../src/outbound/post.ts'
import { resolveTarget } from '../../src/outbound/resolve-target.ts'
import { guardOf } from '../../src/outbound/target-guard.ts'
import { openPlatform } from '../deliveries/platform.ts'

const STORES = {
  databaseUrl: 'postgres://sluice:p%40ss@127.0.0.1:5433,DB2.example/sluice?sslmode=require',
  redisUrl: 'rediss://:secret@redis.example',
  clickhouseUrl: 'http://127.0.0.1:8123/sluice',
}
const settings = { port: 8080, workerMetricsPort: 9090, ...STORES }
const strict = guardOf({ ...settings, allowLoopbackTargets: undefined })
const open = guardOf({ ...settings, allowLoopbackTargets: true })
const soon = () => AbortSignal.timeout(10_000)

const LOOPBACK = /is this machine/
const INTERNAL = /private, link-local or reserved/
const OWN = /belongs to this installation/

describe('a target', () => {
  it.each([
    ['http://127.0.0.1/', LOOPBACK],
    ['http://localhost/', LOOPBACK],
    ['http://[::1]/', LOOPBACK],
    // Forms that a browser reads as 127.0.0.1.
    ['http://2130706433/', LOOPBACK],
    ['http://0x7f.1/', LOOPBACK],
    ['http://017700000001/', LOOPBACK],
    ['http://127.1/', LOOPBACK],
    ['http://[::ffff:127.0.0.1]/', LOOPBACK],
    ['http://169.254.169.254/latest/meta-data', INTERNAL],
    ['http://10.0.0.5:9000/', INTERNAL],
    ['https://[fd00:ec2::254]/', INTERNAL],
    ['http://0.0.0.0/', INTERNAL],
    ['http://127.0.0.1:8123/', OWN],
    ['https://redis.example:6379/', OWN],
    ['http://db2.example:5432/', OWN],
  ])('%s is refused', async (url, reason) => {
    await expect(resolveTarget(new URL(url), strict, soon())).rejects.toThrow(reason)
  })

  it.each([8080, 9090, 5433, 8123])('on this machine is allowed by the setting, but not at port %i', async (port) => {
    expect(await resolveTarget(new URL('http://127.0.0.1:7000/'), open, soon())).toMatchObject([
      { address: '127.0.0.1' },
    ])
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '127.8.8.8'])
      await expect(resolveTarget(new URL(`http://${host}:${port}/`), open, soon())).rejects.toThrow(OWN)
  })

  it('at another address of this machine is refused at its ports, too', async () => {
    const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
    for (const { address, family } of own.filter((one) => !one.address.startsWith('fe80')))
      await expect(
        resolveTarget(new URL(`http://${family === 'IPv6' ? `[${address}]` : address}:8080/`), open, soon()),
      ).rejects.toThrow(OWN)
  })

  it('with the same port elsewhere is allowed', async () => {
    expect(await resolveTarget(new URL('https://1.1.1.1:8080/'), strict, soon())).toEqual([
      { address: '1.1.1.1', family: 4 },
    ])
  })

  it('is not looked up for longer than the attempt takes', async () => {
    const aborted = AbortSignal.abort(new Error('too late'))
    await expect(resolveTarget(new URL('https://crm.invalid/'), strict, aborted)).rejects.toThrow('too late')
  })
})

describe('a request', () => {
  it('is not sent to a refused address', async () => {
    const platform = await openPlatform()
    const request = { url: platform.url, headers: {}, body: '{}' }
    await expect(post(request, strict, soon())).rejects.toThrow(LOOPBACK)
    expect(platform.heard).toEqual([])
    expect((await post(request, open, soon())).status).toBe(200)
    await platform.close()
  })
})
