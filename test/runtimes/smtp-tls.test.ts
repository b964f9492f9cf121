// @long
/**
 * A mail server is reached at an address that was looked up beforehand, and its certificate is checked against its
 * name.
 */
import { execFile, execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { RUNTIMES } from '../support/runtimes.ts'

const SCRIPT = fileURLToPath(new URL('../messages/channels/send-by-tls.ts', import.meta.url))
const CERTIFICATE = '-x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test'
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-smtp-'))
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
  const refused = { 'tls 127.0.0.1': 'temporary', 'starttls 127.0.0.1': 'temporary' }
  // The certificate is valid for localhost, but not for its address. Sockets of Deno trust only public authorities.
  if (runtime !== 'deno')
    expect(await run({ NODE_EXTRA_CA_CERTS: cert })).toEqual({
      outcomes: { ...refused, 'tls localhost': 'accepted', 'starttls localhost': 'accepted' },
      heard: ['shop open true', 'shop open true'],
    })
  // No password is sent to a server whose certificate is not trusted.
  expect(await run({})).toEqual({
    outcomes: { ...refused, 'tls localhost': 'temporary', 'starttls localhost': 'temporary' },
    heard: [],
  })
})
