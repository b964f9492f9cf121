import { expect } from 'vitest'

/** `expect.stringContaining`, which is typed `any`, as a value that no check is lost on. */
export function containing(part: string): unknown {
  return expect.stringContaining(part)
}
