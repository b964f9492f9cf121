// @long
/**
 * A connection to an address that was looked up beforehand still names the host, and checks the certificate against
 * that name.
 */
import { execFile, execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { RUNTIMES } from '../support/runtimes.ts'

const SCRIPT = fileURLToPath(new URL('../outbound/post-by-tls.ts', import.meta.url))
const CERTIFICATE = '-x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test'
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-tls-'))
  const files = ['-keyout', join(folder, 'key'), '-out', join(folder, 'cert')]
  const name = ['-addext', 'subjectAltName=DNS:localhost']
  execFileSync('openssl', ['req', ...CERTIFICATE.split(' '), ...name, ...files], { stdio: 'ignore' })
})
afterAll(() => rm(folder, { recursive: true }))

it.each(Object.keys(RUNTIMES))('on %s', async (runtime) => {
  const [command = '', ...args] = RUNTIMES[runtime] ?? []
  const [key, cert] = [join(folder, 'key'), join(folder, 'cert')]
  const run = async (trusted: Record<string, string>) => {
    const env = { ...process.env, ...trusted }
    const { stdout } = await promisify(execFile)(command, [...args, SCRIPT, key, cert], { env })
    return JSON.parse(stdout) as unknown
  }
  // The certificate is valid for localhost, but not for its address.
  expect(await run({ NODE_EXTRA_CA_CERTS: cert, DENO_CERT: cert })).toEqual({
    results: [200, 'refused'],
    hosts: ['localhost'],
  })
  expect(await run({})).toEqual({ results: ['refused', 'refused'], hosts: [] })
})
