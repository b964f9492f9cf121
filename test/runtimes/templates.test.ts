// @long
/** Dates, amounts and limits of messages are the same on every runtime, whatever time zone and language the machine has. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { RUNTIMES } from '../support/runtimes.ts'

const SCRIPT = fileURLToPath(new URL('print-messages.ts', import.meta.url))
const MACHINES = [
  { TZ: 'Europe/Berlin', LANG: 'de_DE.UTF-8' },
  { TZ: 'America/St_Johns', LANG: '' },
]

interface Printed {
  said: Record<string, [dates: string, money: string, written: string]>
  depths: boolean[][]
}

async function say(runtime: string, machine: Record<string, string>): Promise<Printed> {
  const [command, ...args] = RUNTIMES[runtime]!
  const env = { ...process.env, LC_ALL: machine['LANG'], ...machine }
  const { stdout } = await promisify(execFile)(command, [...args, SCRIPT], { env, maxBuffer: 16 << 20 })
  return JSON.parse(stdout) as Printed
}

it('says the same on Bun, Deno and Node, in each zone and language of the machine', async () => {
  const printed = await say('bun', MACHINES[0]!)
  const { said: expected, depths } = printed
  for (const runtime of Object.keys(RUNTIMES))
    for (const machine of MACHINES) expect(await say(runtime, machine), `${runtime} ${machine.TZ}`).toEqual(printed)

  expect(expected['de']![0]).toMatch(/^1 Januar Jan\.\|Januar\|Jan\.\|Donnerstag\|Do\|01\.01\.2026;/)
  expect(expected['he']![0]).toContain('5 דצמבר דצמ׳|דצמבר|דצמ׳|יום שבת|שבת')
  expect(expected['ru']![0]).toContain('5 декабря')
  expect(expected['ru']![0]).toContain('|декабрь|')
  // A language without names is English.
  expect(expected['xx']![0]).toContain('5 December Dec|December|Dec|Saturday|Sat')
  expect(expected['de']![1]).toMatch(/^59,70\u00A0€;-1\.234\.567,89\u00A0€;0,00\u00A0€;/)
  expect(expected['en']![1]).toMatch(/^€59\.70;-€1,234,567\.89;€0\.00;/)
  expect(expected['he']![1]).toMatch(/^\u200F59\.70 ?\u00A0?\u200F€;/)
  for (const [, , written] of Object.values(expected)) expect(written).toBe('09:00 02:30 2026-12-01')
  expect(depths).toEqual([
    [true, true, true, true],
    [false, false, false, false],
  ])
})
