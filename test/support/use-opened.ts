import { afterAll, beforeAll } from 'vitest'

/**
 * Opens what a test file needs before its first test, and closes it after the last one. What is returned is empty until
 * then: read it in hooks and tests.
 */
export function useOpened<Opened extends { close(): Promise<unknown> }>(open: () => Promise<Opened>): Opened {
  const given = {} as Opened
  let opened: Opened | undefined
  beforeAll(async () => {
    opened = await open()
    Object.defineProperties(given, Object.getOwnPropertyDescriptors(opened))
  })
  afterAll(() => opened?.close())
  return given
}
