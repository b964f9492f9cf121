/** A statement that ClickHouse does not even stop in time: sending it again would not help, and the answer says so. */
import { rm, writeFile } from 'node:fs/promises'
import { expect, inject, it } from 'vitest'
import { createBusiness as insertBusiness } from '../../src/businesses/businesses.ts'
import { enginesFile } from '../../src/stores/data-dir.ts'
import { openCuttingProxy } from '../faults/cutting-proxy.ts'
import { makeAnalystFolder } from '../support/analyst-engine.ts'
import { openService } from '../support/service.ts'
import { addUser, signIn } from './session-client.ts'

it('names the limit of time', async () => {
  const folder = await makeAnalystFolder()
  const { clickhouseUrl, clickhouseAnalystUrl } = inject('stores')
  const proxy = await openCuttingProxy(clickhouseAnalystUrl)
  await writeFile(enginesFile(folder), JSON.stringify({ clickhouseUrl, clickhouseAnalystUrl: proxy.url }))
  const service = await openService({ DATA_DIR: folder }, { withoutWorkers: true })
  try {
    const businessId = await insertBusiness(service.sql, { name: 'A' })
    await addUser(service.sql, 'owner@x.io', { businessId, role: 'owner' })
    await addUser(service.sql, 'ann@x.io', { businessId, role: 'analyst' })
    const client = await signIn(service, 'ann@x.io')
    proxy.cut('hang')
    const { status, issues } = await client.send('POST', `/b/${businessId}/sql`, { statement: 'select 1' })
    expect([status, issues[0]?.path, issues[0]?.message]).toEqual([
      400,
      'seconds',
      expect.stringContaining('longer than 20 seconds'),
    ])
  } finally {
    await service.close()
    await proxy.close()
    await rm(folder, { recursive: true })
  }
})
