/** What `start` says when everything runs. */
import { afterEach, expect, test, vi } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { printGreeting } from '../../src/embedded/console-output.ts'

afterEach(() => vi.restoreAllMocks())

function greet(environment: Record<string, string>): string {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  const url = 'http://127.0.0.1:8080'
  printGreeting({ url, config: readConfig(environment), engines: [], demo: undefined, link: `${url}/link` })
  return write.mock.calls.map(([text]) => String(text)).join('')
}

test.each([
  [{}, 'for another: npm run admin -- user link EMAIL'],
  [{ DATA_DIR: '.sluice' }, 'for another: npm run admin -- user link EMAIL'],
  [{ DATA_DIR: '/srv/sluice' }, 'for another: DATA_DIR=/srv/sluice npm run admin -- user link EMAIL'],
  [{ DATA_DIR: "/srv/Ann's data" }, `for another: DATA_DIR='/srv/Ann'\\''s data' npm run admin -- user link EMAIL`],
])('with %j the command for another link finds the installation', (environment, line) => {
  expect(
    greet(environment)
      .split('\n')
      .find((one) => one.includes('user link')),
  ).toContain(line)
})
