// @long
/** Local times are the same on every runtime, however old the runtime's own rules of time zones are. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import type { Answer, Comparison } from '../rules/time/show-local-times.ts'
import { RUNTIMES } from '../support/runtimes.ts'

const SCRIPT = fileURLToPath(new URL('../rules/time/show-local-times.ts', import.meta.url))

async function show(runtime: string): Promise<Answer> {
  return JSON.parse(await run(runtime)) as Answer
}

async function run(runtime: string, ...more: string[]): Promise<string> {
  const [command = '', ...args] = RUNTIMES[runtime] ?? []
  return (await promisify(execFile)(command, [...args, SCRIPT, ...more])).stdout
}

it.each(Object.keys(RUNTIMES))('on %s', async (runtime) => {
  const { shown } = await show(runtime)
  const next = (zone: string) => new Date(shown.find((one) => one.zone === zone)?.next ?? 0).toISOString()
  expect(['America/Vancouver', 'America/Edmonton', 'Africa/Casablanca'].map(next)).toEqual([
    '2026-11-29T16:00:00.000Z',
    '2026-11-29T15:00:00.000Z',
    '2026-11-29T09:00:00.000Z',
  ])
  expect(shown.find(({ zone }) => zone === 'Africa/Casablanca')?.window.from).toBe(Date.parse('2026-11-28T20:30:00Z'))
  expect(shown[0]).toMatchObject({
    zone: 'America/Vancouver',
    bucket: [Date.parse('2026-11-28T07:00Z'), Date.parse('2026-11-29T07:00Z')],
    days: { days: ['2026-11-27', '2026-11-28'], since: Date.parse('2026-11-27T07:00Z') },
    mail: [null, '2026-11-30', '2026-11-30'],
    cell: { value: '2026-11-28T16:00:00Z' },
    far: -7 * 3_600_000,
  })
})

it('all runtimes say the same', async () => {
  const [bun, deno, node] = await Promise.all(['bun', 'deno', 'node'].map((runtime) => show(runtime)))
  expect(deno).toEqual(bun)
  expect(node).toEqual(bun)
})

it('rules that did not change lately are those of a current Node', async (context) => {
  const { release, differing } = JSON.parse(await run('node', '--compare')) as Comparison
  // An older Node on the PATH lacks the changes of its later years.
  context.skip(release < '2026c', `Node has the rules of ${release}`)
  expect(differing).toEqual([])
})
