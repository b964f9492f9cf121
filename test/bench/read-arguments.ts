/** The arguments of `bun run bench`. */
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import type { Sizes } from './bench.ts'
import { SCENARIOS } from './scenarios/index.ts'
import type { Scenario } from './scenarios/scenario.ts'

export const HELP = `Usage: bun run bench [--quick] [--scenario NAME] [--out DIR] [--json]

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
  --json           Print the report as one line of JSON
  --guard          Only compare the pipeline's CPU with its ceilings' and with the figure kept; exit code 1 when it grew

Scenarios:
${SCENARIOS.map(({ name, title }) => `  ${name.padEnd(22)}${title}`).join('\n')}

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
  json: flag,
  guard: flag,
  help: { ...flag, short: 'h' },
} satisfies ParseArgsOptionsConfig

export interface Arguments {
  values: ReturnType<typeof parse>
  chosen: Scenario[]
  sizes: Sizes
}

const parse = (args: string[]) => parseArgs({ args, options: OPTIONS }).values

/** Throws an error that describes the invalid argument. */
export function readArguments(args: string[]): Arguments | 'help' {
  const values = parse(args)
  if (values.help) return 'help'
  const chosen = SCENARIOS.filter(({ name }) => values.scenario.some((word) => name.includes(word)))
  if (chosen.length === 0) throw new Error('There is no such scenario.')
  const sizes = {
    herd: readSize(values.herd),
    clockRows: readSize(values['clock-rows']),
    contacts: readSize(values.contacts),
    segments: readSize(values.segments),
    sends: readSize(values.sends),
    waiting: readSize(values.waiting),
    events: readSize(values.events),
  }
  return { values, chosen, sizes }
}

function readSize(value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  const size = Number(value)
  if (Number.isInteger(size) && size > 0) return size
  throw new Error(`${value} is not a number above 0.`)
}
