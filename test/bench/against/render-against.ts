import type { Machine } from '../describe-machine.ts'
import { renderMachine, table } from '../render-report.ts'
import { rounded } from '../scenarios/scenario.ts'
import type { AgainstReport } from './run-against.ts'

/** Rates are better above 1, everything else below. */
export function renderAgainst(machine: Machine, { today, other, rounds, comparisons }: AgainstReport): string {
  const rows = comparisons.flatMap(({ name, title, ratios }) =>
    ratios.map(({ figure, today: ours, other: theirs, median, lowest, highest }, at) => [
      at === 0 ? `${name}: ${title}` : '',
      figure,
      rounded(ours),
      rounded(theirs),
      `**${rounded(median)}**`,
      `${rounded(lowest)} to ${rounded(highest)}`,
    ]),
  )
  const sections = [
    `# ${today}, against ${other}`,
    `Medians of ${rounds} rounds, in which both builds were loaded in turn. A ratio is this build divided by the other.`,
    renderMachine(machine),
    table(['scenario', 'figure', 'this build', other, 'ratio', 'spread'], rows),
  ]
  return `${sections.join('\n\n')}\n`
}
