/** `bench --against REV`: loads this build and another one in turn, and compares their figures. */
import { mkdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type OpenBench, openBench } from '../bench.ts'
import { buildRevision, findCommit } from './build-revision.ts'
import { type Comparison, type Opened } from './comparisons.ts'
import type { Figures } from './figures.ts'
import { type Ratio, compareRounds } from './ratios.ts'

export interface Compared {
  name: string
  title: string
  ratios: Ratio[]
}

export interface AgainstReport {
  today: string
  other: string
  rounds: number
  comparisons: Compared[]
}

export interface AgainstOptions {
  revision: string
  comparisons: Comparison[]
  rounds: number
  quick: boolean
  place: string | undefined
  say(text: string): void
}

export async function runAgainst(options: AgainstOptions): Promise<AgainstReport> {
  const { revision, rounds, quick, place = tmpdir(), say } = options
  const today = `${await findCommit('HEAD')}, with what is not committed`
  const builds = join(place, `sluice-bench-builds-${process.pid}`)
  await mkdir(builds, { recursive: true, mode: 0o755 })
  const opened: OpenBench[] = []
  const close = async () => {
    for (const bench of opened.splice(0)) await bench.close()
    await rm(builds, { recursive: true, force: true })
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void close().then(() => process.exit(130)))
  try {
    const { commit, folder } = await buildRevision(revision, builds, say)
    for (const sources of [undefined, folder]) {
      say(`starting ${sources === undefined ? 'this build' : commit}`)
      opened.push(await openBench({ quick, place, sources }))
    }
    const [ours, theirs] = opened
    if (!ours || !theirs) throw new Error('Both builds must have started')
    const comparisons: Compared[] = []
    for (const comparison of options.comparisons)
      comparisons.push(await compare(comparison, { ours, theirs, rounds, say }))
    return { today, other: commit, rounds, comparisons }
  } finally {
    await close()
  }
}

async function compare(
  { name, title, open }: Comparison,
  { ours, theirs, rounds, say }: { ours: OpenBench; theirs: OpenBench; rounds: number; say(text: string): void },
): Promise<Compared> {
  const both = { today: await open(ours), other: await open(theirs) }
  const measured: { today: Figures; other: Figures }[] = []
  // Round 0 warms up: compilers, caches and connections are then those of a service that has run for a while.
  for (let round = 0; round <= rounds; round += 1) {
    say(round === 0 ? `${name}: warming up` : `${name}: round ${round} of ${rounds}`)
    const figures = await measureInTurn(both, round)
    if (round > 0) measured.push(figures)
  }
  await both.today.close?.()
  await both.other.close?.()
  return { name, title, ratios: compareRounds(measured) }
}

/** The builds change places every round, so that neither is always measured after the other. */
async function measureInTurn({ today, other }: { today: Opened; other: Opened }, round: number) {
  if (round % 2 === 0) return { today: await today.measure(round), other: await other.measure(round) }
  const first = await other.measure(round)
  return { today: await today.measure(round), other: first }
}
