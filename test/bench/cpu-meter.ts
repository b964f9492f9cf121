import { readCpu } from './process-tree.ts'
import { PARTS, type Part, type Stack } from './stack.ts'

export type CpuByPart = Record<Part, number>

/** Returns a function that returns the microseconds of CPU since now, by part. */
export function startMeter({ pids }: Stack): () => CpuByPart {
  const before = readCpu(pids)
  return () => {
    const after = readCpu(pids)
    return mapParts((part) => after[part] - before[part])
  }
}

export const mapParts = (of: (part: Part) => number): CpuByPart =>
  Object.fromEntries(PARTS.map((part) => [part, of(part)])) as CpuByPart
