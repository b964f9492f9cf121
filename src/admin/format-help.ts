import { type Command, listOptions } from './command.ts'

/** The help of one command. */
export function formatHelp(command: Command): string {
  const options = listOptions(command)
  const usage = ['admin', command.name, ...(command.positionals ?? []), ...usageOf(command)].join(' ')
  const rows = Object.entries(options).map(([name, { value, help }]) => [`--${name}${value ? ` ${value}` : ''}`, help])
  return [command.summary, '', `Usage: ${usage}`, '', 'Options:', formatTable(rows), ...notesOf(command)].join('\n')
}

/** The help of several commands, one line each. */
export function formatCommandList(commands: Command[], prefix: string): string {
  const rows = commands.map(({ name, positionals, summary }) => [[name, ...(positionals ?? [])].join(' '), summary])
  const usage = `Usage: admin ${prefix ? `${prefix} ` : ''}<command> [options]`
  return [usage, '', 'Commands:', formatTable(rows), '', 'Every command has the options --help and --json.'].join('\n')
}

/** Aligned columns, indented by two. */
export function formatTable(rows: string[][]): string {
  const widths = rows.reduce<number[]>(
    (widest, row) => row.map((cell, column) => Math.max(cell.length, widest[column] ?? 0)),
    [],
  )
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
  return lines.map((line) => `  ${line.trimEnd()}`).join('\n')
}

function usageOf({ required = [], options = {} }: Command): string[] {
  return [...required.map((name) => `--${name} ${options[name]?.value}`), '[options]']
}

function notesOf({ notes }: Command): string[] {
  return notes ? ['', notes] : []
}
