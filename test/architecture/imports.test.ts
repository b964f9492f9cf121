/** Who may import whom: rooms stand on floors, and every import leads down. No files import each other, types included. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'

const ROOT = new URL('../../', import.meta.url)

/** From the ground up. A room may import the rooms of lower floors, and none of its own floor. */
const FLOORS: string[][] = [
  ['src/version.ts', 'src/config.ts', 'src/log.ts', 'src/async', 'src/rules', 'src/sdk'],
  ['src/errors.ts', 'src/process', 'src/metrics.ts', 'src/stores', 'src/dashboard'],
  ['src/stream', 'src/businesses', 'src/outbound'],
  ['src/outbox', 'src/deliveries', 'src/accounts'],
  ['src/contacts', 'src/web-events', 'src/migrate'],
  ['src/timeline', 'src/embedded', 'src/imports', 'src/messages'],
  ['src/segments'],
  ['src/campaigns', 'src/analytics'],
  ['src/demo'],
  ['src/front-door', 'src/admin', 'workers'],
  ['src/cli.ts'],
]

const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'src', 'workers'], { cwd: ROOT })
  .toString()
  .split('\n')
  .filter((file) => file.endsWith('.ts'))

const imports = new Map(files.map((file) => [file, importsOf(file)]))

function importsOf(file: string): string[] {
  const source = readFileSync(new URL(file, ROOT), 'utf8')
  return [...source.matchAll(/\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, path = '']) =>
    join(dirname(file), path),
  )
}

const floorOf = (file: string): number =>
  FLOORS.findIndex((rooms) => rooms.some((room) => file === room || file.startsWith(`${room}/`)))
const roomOf = (file: string): string =>
  FLOORS.flat().find((room) => file === room || file.startsWith(`${room}/`)) ?? file

it('every file stands in a room', () => {
  expect(files.filter((file) => floorOf(file) < 0)).toEqual([])
  expect(FLOORS.flat().filter((room) => !files.some((file) => roomOf(file) === room))).toEqual([])
})

it('imports lead down', () => {
  const rising = files.flatMap((file) =>
    (imports.get(file) ?? [])
      .filter((target) => imports.has(target) && roomOf(target) !== roomOf(file) && floorOf(target) >= floorOf(file))
      .map((target) => `${file} -> ${target}`),
  )
  expect(rising).toEqual([])
})

it('no files import each other in a circle', () => {
  // What imports nothing that is left goes, again and again: what then stays is in a circle, or leads to one.
  const left = new Map(files.map((file) => [file, (imports.get(file) ?? []).filter((target) => imports.has(target))]))
  for (let before = -1; before !== left.size;) {
    before = left.size
    for (const [file, targets] of left) if (!targets.some((target) => left.has(target))) left.delete(file)
  }
  const leadsTo = (from: string, seen = new Set<string>()): Set<string> => {
    for (const target of left.get(from) ?? [])
      if (left.has(target) && !seen.has(target)) leadsTo(target, seen.add(target))
    return seen
  }
  expect([...left.keys()].filter((file) => leadsTo(file).has(file))).toEqual([])
})
