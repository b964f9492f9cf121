/** A clock that is wrong for what is started meanwhile, by libfaketime (Debian's package of that name), where it is installed. */
import { existsSync } from 'node:fs'

const LIBRARIES = ['x86_64-linux-gnu/faketime', 'aarch64-linux-gnu/faketime', 'faketime'].map(
  (place) => `/usr/lib/${place}/libfaketimeMT.so.1`,
)

export const canFakeClocks = (): boolean => LIBRARIES.some((library) => existsSync(library))

/** `offset`: as in `+1h`. Waits are not faked, only the time of day. */
export async function withClock<T>(offset: string, start: () => Promise<T>): Promise<T> {
  const settings = {
    LD_PRELOAD: LIBRARIES.find((library) => existsSync(library)),
    FAKETIME: offset,
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  }
  Object.assign(process.env, settings)
  try {
    return await start()
  } finally {
    for (const name of Object.keys(settings)) delete process.env[name]
  }
}
