// @long
/** Every runtime encrypts and signs push messages according to the standards. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { RUNTIMES } from '../support/runtimes.ts'

const SCRIPT = fileURLToPath(new URL('../messages/push/make-push.ts', import.meta.url))

it.each(Object.keys(RUNTIMES))('on %s', async (runtime) => {
  const [command = '', ...args] = RUNTIMES[runtime] ?? []
  const { stdout } = await promisify(execFile)(command, [...args, SCRIPT])
  expect(JSON.parse(stdout)).toEqual({
    text: 'Grüße',
    claims: { aud: 'https://push.example', exp: 12 * 3600, sub: 'mailto:push@shop.example' },
    isSigned: true,
    areKeys: [true, false, false],
  })
})
