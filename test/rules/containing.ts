import { expect } from 'vitest'

/** Types `expect.stringContaining` as unknown. It is typed as `any`, which would disable type checks around it. */
export function containing(part: string): unknown {
  return expect.stringContaining(part)
}
