import { type Command, listOptions } from './command.ts'

/** Returns the help of one command. */
export function formatHelp(command: Command): string {
  const options = listOptions(command)
  const usage = ['admin', command.name, ...(command.positionals ?? []), ...usageOf(command)].join(' ')
  const rows = Object.entries(options).map(([name, { value, help }]) => [`--${name}${value ? ` ${value}` : ''}`, help])
  return [command.summary, '', `Usage: ${usage}`, '', 'Options:', formatTable(rows), ...notesOf(command)].join('\n')
}

/** Returns the help of several commands, one line each. */
export function formatCommandList(commands: Command[], prefix: string): string {
  const rows = commands.map(({ name, positionals, summary }) => [[name, ...(positionals ?? [])].join(' '), summary])
  const usage = `Usage: admin ${prefix ? `${prefix} ` : ''}<command> [options]`
  return [usage, '', 'Commands:', formatTable(rows), '', 'Every command has the options --help and --json.'].join('\n')
}

/**
 * Characters that control a terminal or change the direction of text. Event names and cells of files may contain
 * anything.
 */
const CONTROLS = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu
const escapeControl = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Escapes these characters as JSON does, except line breaks and tabs. */
export const withoutControls = (text: string): string =>
  text.replaceAll(CONTROLS, (character) => (/[\n\t]/.test(character) ? character : escapeControl(character)))

/** Formats aligned columns, indented by two. Each cell is one line, whatever it contains. */
export function formatTable(cells: string[][]): string {
  const rows = cells.map((row) => row.map((cell) => cell.replaceAll(CONTROLS, escapeControl)))
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
