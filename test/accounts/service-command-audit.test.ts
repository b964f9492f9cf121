/** The commands that need a running service leave entries in the audit log, too. */
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { listAudit } from '../../src/audit/audit.ts'
import type { Config } from '../../src/config.ts'
import { runAdminQuietly } from '../end-to-end/run-admin.ts'
import { type Service, openService } from '../support/service.ts'
import { createBusiness } from '../support/stack.ts'

let service: Service
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-command-audit-'))
  service = await openService({ DATA_DIR: folder })
})
afterAll(async () => {
  await service.close()
  await rm(folder, { recursive: true })
})

const entriesOf = (businessId: string) => listAudit(service.sql, { businessId, before: null, limit: 100 })

interface Into {
  businessId: string
  secretKey: string
  url?: string
}

async function importInto(config: Config, { businessId, secretKey, url = service.url }: Into, ...more: string[]) {
  const file = join(folder, 'signups.csv')
  await writeFile(file, 'who,when\nann@x.io,2025-03-01\nbob@x.io,2025-03-02\n')
  const fields = ['--map', 'email=who', '--map', 'occurredAt=when', '--set', 'event=signup']
  const target = ['--business', businessId, '--key', secretKey, '--url', url, ...more]
  return runAdminQuietly(['import', file, ...target, ...fields, '--json'], config)
}

it('demo, with all that it makes, and none when nothing was missing', async () => {
  const { businessId } = await createBusiness(service.sql)
  const words = ['demo', '--business', businessId, '--contacts', '5', '--json']
  expect((await runAdminQuietly(words, service.config)).exitCode).toBe(0)
  const entries = await entriesOf(businessId)
  expect(entries.filter(({ action }) => action === 'demo.load')).toMatchObject([{ details: { contacts: 5 } }])
  const counts: Record<string, number> = {}
  for (const { action } of entries) counts[action] = (counts[action] ?? 0) + 1
  expect(counts).toEqual({
    'demo.load': 1,
    'spend.import': 1,
    'segment.create': 3,
    'sender.save': 1,
    'template.create': 2,
    'campaign.create': 3,
    'campaign.publish': 1,
  })
  const again = await runAdminQuietly(words, service.config)
  expect(JSON.parse(again.out)).toMatchObject({ added: { contacts: 0, events: 0 } })
  expect(await entriesOf(businessId)).toEqual(entries)
  for (const entry of entries) expect(entry).toMatchObject({ actorKind: 'command', actorName: 'admin demo' })
}, 120_000)

it('import, with its fields and the number of rows, and nothing that they hold', async () => {
  const business = await createBusiness(service.sql)
  const { exitCode } = await importInto(service.config, business)
  expect(exitCode).toBe(0)
  expect(await entriesOf(business.businessId)).toMatchObject([
    {
      actorKind: 'command',
      actorName: 'admin import',
      action: 'import.send',
      details: {
        file: 'signups.csv',
        fields: ['identity.email', 'occurredAt', 'event'],
        rows: 2,
        sent: 2,
        recorded: 2,
        deduped: 0,
        failed: 0,
      },
    },
  ])
})

it('import, before its first rows, with what became of them when it is refused or ends half-way', async () => {
  const [business, other] = await Promise.all([createBusiness(service.sql), createBusiness(service.sql)])
  const refused = await importInto(service.config, { ...business, secretKey: other.secretKey })
  expect([refused.exitCode, JSON.parse(refused.out)]).toMatchObject([1, { error: { code: 'refused' } }])
  const [first] = await entriesOf(business.businessId)
  expect(first).toMatchObject({ details: { rows: 2, sent: 0, recorded: 0, deduped: 0, failed: 0 } })
  expect(await entriesOf(other.businessId)).toEqual([])
  // The first request is taken, the second is not.
  let requests = 0
  let before: unknown
  const halfWay = createServer((asked, answered) => {
    requests += 1
    if (requests > 1) return void answered.writeHead(403, { 'content-type': 'application/json' }).end('{}')
    const { method, headers } = asked
    const passedOn = request(service.url + asked.url, { method, headers }, (answer) => {
      answered.writeHead(answer.statusCode ?? 0, answer.headers)
      answer.pipe(answered)
    })
    void entriesOf(business.businessId).then(([entry]) => {
      before = entry?.details
      asked.pipe(passedOn)
    })
  }).listen(0, '127.0.0.1')
  await once(halfWay, 'listening')
  const url = `http://127.0.0.1:${(halfWay.address() as AddressInfo).port}`
  const broken = await importInto(service.config, { ...business, url }, '--batch-size', '1', '--parallel', '1')
  halfWay.close()
  expect([broken.exitCode, JSON.parse(broken.out)]).toMatchObject([1, { error: { code: 'refused' } }])
  const begun = { file: 'signups.csv', fields: ['identity.email', 'occurredAt', 'event'], rows: 2 }
  expect(before).toEqual(begun)
  expect((await entriesOf(business.businessId)).map(({ details }) => details)).toEqual([
    { ...begun, sent: 1, recorded: 1, deduped: 0, queued: 0, failed: 0 },
    first?.details,
  ])
}, 60_000)

it('import from a machine whose settings lead to no store, or to those of another installation, goes on', async () => {
  const business = await createBusiness(service.sql)
  const elsewhere = { ...service.config, databaseUrl: undefined, redisUrl: undefined, clickhouseUrl: undefined }
  expect((await importInto(elsewhere, business)).exitCode).toBe(0)
  const nobody = { ...service.config, databaseUrl: 'postgres://x:y@127.0.0.1:9/none' }
  expect((await importInto(nobody, business)).exitCode).toBe(0)
  // A database that does not exist, a database without tables, and a user that does not exist.
  for (const change of [{ pathname: '/none' }, { pathname: '/postgres' }, { username: 'none' }]) {
    const url = new URL(service.databaseUrl)
    Object.assign(url, change)
    expect((await importInto({ ...service.config, databaseUrl: url.href }, business)).exitCode).toBe(0)
  }
  expect(await entriesOf(business.businessId)).toEqual([])
})
