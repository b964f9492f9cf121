/**
 * Posts to itself over TLS, by name and by address, on any runtime, and prints each outcome. Arguments: the files of
 * the key and the certificate.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { post } from '../../src/outbound/post.ts'
import { LOOPBACK_GUARD } from '../deliveries/delivery-lab.ts'

const [key = '', cert = ''] = process.argv.slice(2)
const hosts: unknown[] = []
const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (request, response) => {
  hosts.push(request.headers.host?.split(':')[0])
  response.end('{}')
}).listen(0)
await once(server, 'listening')
const { port } = server.address() as AddressInfo
const results: unknown[] = []
for (const host of ['localhost', '127.0.0.1']) {
  const request = { url: `https://${host}:${port}/`, headers: {}, body: '{}' }
  const result = post(request, LOOPBACK_GUARD, AbortSignal.timeout(10_000))
  results.push(
    await result.then(
      ({ status }) => status,
      () => 'refused',
    ),
  )
}
process.stdout.write(JSON.stringify({ results, hosts }))
process.exit(0)
