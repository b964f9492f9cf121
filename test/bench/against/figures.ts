import { PARTS, type Part } from '../stack.ts'

/** Figures of one round by name and unit, such as `rate, events/s`. */
export type Figures = Record<string, number>

export const cpuFigures = (cpu: Record<Part, number>, each: string): Figures => ({
  ...Object.fromEntries(PARTS.map((part) => [`CPU ${part}, µs ${each}`, cpu[part]])),
  [`CPU together, µs ${each}`]: PARTS.reduce((sum, part) => sum + cpu[part], 0),
})
