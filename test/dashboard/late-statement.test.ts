/**
 * A statement that ClickHouse does not even stop in time: sending it again would not help, and the answer says so. While
 * ClickHouse is away, it would.
 */
import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, type Socket, createServer } from 'node:net'
import { expect, inject, it } from 'vitest'
import { insertBusiness } from '../../src/businesses/businesses.ts'
import { enginesFile } from '../../src/stores/data-dir.ts'
import { makeAnalystFolder } from '../support/analyst-engine.ts'
import { openService } from '../support/service.ts'
import { addUser, signIn } from './session-client.ts'

const SLOW = 'The statement took longer than 20 seconds. Read less: a shorter time range, fewer rows.'

type Case = [what: string, accept: (socket: Socket) => void, status: number, code: string, messages: string[]]

it.each<Case>([
  ['stay without an answer', () => undefined, 400, 'invalid_request', [SLOW]],
  ['are closed', (socket) => void socket.destroy(), 503, 'unavailable', []],
])('when connections %s, says so', async (_, accept, status, code, messages) => {
  const folder = await makeAnalystFolder()
  const { clickhouseUrl, clickhouseAnalystUrl } = inject('stores')
  const server = createServer(accept).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(clickhouseAnalystUrl)
  url.port = String((server.address() as AddressInfo).port)
  await writeFile(enginesFile(folder), JSON.stringify({ clickhouseUrl, clickhouseAnalystUrl: url.href }))
  const service = await openService({ DATA_DIR: folder }, { withoutWorkers: true })
  try {
    const businessId = await insertBusiness(service.sql, { name: 'A' })
    await addUser(service.sql, 'owner@x.io', { businessId, role: 'owner' })
    await addUser(service.sql, 'ann@x.io', { businessId, role: 'analyst' })
    const client = await signIn(service, 'ann@x.io')
    const answer = await client.send('POST', `/b/${businessId}/sql`, { statement: 'select 1' })
    expect(answer).toMatchObject({ status, code })
    expect(answer.issues.map(({ message }) => message)).toEqual(messages)
  } finally {
    await service.close()
    server.close()
    await rm(folder, { recursive: true })
  }
})
