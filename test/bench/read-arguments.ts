/** The arguments of `bun run bench`. */
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import type { Sizes } from './bench.ts'
import { COMPARISONS, type Comparison } from './against/comparisons.ts'
import { SCENARIOS } from './scenarios/index.ts'
import type { Scenario } from './scenarios/scenario.ts'

export const HELP = `Usage: bun run bench [--quick] [--scenario NAME] [--out DIR] [--json]
       bun run bench --against REV [--rounds N] [--quick] [--scenario NAME] [--out DIR] [--json]

Starts the product on an empty directory, sends it load, and writes bench-report.md, .json and .svg.

  --quick          Short forms of all scenarios: about two minutes
  --scenario NAME  Those with NAME in their name; may be repeated
  --out DIR        Where the report goes (here)
  --place DIR      Where the data lie meanwhile (the system's temporary directory)
  --herd N         Of segments-due: contacts that are due in one second (30,000)
  --clock-rows N   Of segments-idle: contacts that time will change later (1,000,000)
  --contacts N     Of segments-computed: contacts of the previews and of the new segments (100,000)
  --segments N     Of segments-computed: new segments that are created at once (20)
  --sends N        Of sends: messages that are due at once (100,000)
  --waiting N      Of sends: enrolments that wait at rest (1,000,000)
  --events N       Of analytics: events, ten a contact (10,000,000). Of segments-computed: events of the contacts, filled in and
                   not sent (without it, each contact comes with a live event)
  --against REV    Build the revision REV of this repository in a folder of its own, start both builds on empty
                   directories, load them in turn, and report the ratios of this build to it (bench-against.md, .json)
  --rounds N       Of --against: rounds that count (5; 2 with --quick)
  --json           Print the report as one line of JSON
  --guard          Only compare the pipeline's CPU with its ceilings' and with the figure kept; exit code 1 when it grew

Scenarios:
${SCENARIOS.map(({ name, title }) => `  ${name.padEnd(22)}${title}`).join('\n')}

Of --against:
${COMPARISONS.map(({ name, title }) => `  ${name.padEnd(22)}${title}`).join('\n')}

The product's settings (WORKER_THREADS, STREAM_PARTITIONS, …) are taken from the environment.
docs/performance.md explains the figures.`

const text = { type: 'string' } as const
const flag = { type: 'boolean', default: false } as const
const OPTIONS = {
  quick: flag,
  scenario: { ...text, multiple: true, default: [''] },
  out: { ...text, default: '.' },
  place: text,
  herd: text,
  'clock-rows': text,
  contacts: text,
  segments: text,
  sends: text,
  waiting: text,
  events: text,
  against: text,
  rounds: text,
  json: flag,
  guard: flag,
  help: { ...flag, short: 'h' },
} satisfies ParseArgsOptionsConfig

export interface Arguments {
  values: ReturnType<typeof parse>
  chosen: Scenario[]
  /** Of --against. */
  comparisons: Comparison[]
  rounds: number
  sizes: Sizes
}

const parse = (args: string[]) => parseArgs({ args, options: OPTIONS }).values

/** Throws an error that describes the invalid argument. */
export function readArguments(args: string[]): Arguments | 'help' {
  const values = parse(args)
  if (values.help) return 'help'
  const isChosen = ({ name }: { name: string }) => values.scenario.some((word) => name.includes(word))
  const chosen = values.against === undefined ? SCENARIOS.filter(isChosen) : []
  const comparisons = values.against === undefined ? [] : COMPARISONS.filter(isChosen)
  if (chosen.length + comparisons.length === 0) throw new Error('There is no such scenario.')
  if (values.against === undefined && values.rounds !== undefined) throw new Error('--rounds is only for --against.')
  if (values.against !== undefined && values.guard) throw new Error('--guard and --against exclude each other.')
  const sizes = {
    herd: readSize(values.herd),
    clockRows: readSize(values['clock-rows']),
    contacts: readSize(values.contacts),
    segments: readSize(values.segments),
    sends: readSize(values.sends),
    waiting: readSize(values.waiting),
    events: readSize(values.events),
  }
  return { values, chosen, comparisons, rounds: readSize(values.rounds) ?? (values.quick ? 2 : 5), sizes }
}

function readSize(value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  const size = Number(value)
  if (Number.isInteger(size) && size > 0) return size
  throw new Error(`${value} is not a number above 0.`)
}
