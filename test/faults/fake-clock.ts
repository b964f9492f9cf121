/** Runs processes with a wrong clock, by libfaketime (the Debian package of that name) where it is installed. */
import { existsSync } from 'node:fs'

const LIBRARIES = ['x86_64-linux-gnu/faketime', 'aarch64-linux-gnu/faketime', 'faketime'].map(
  (place) => `/usr/lib/${place}/libfaketimeMT.so.1`,
)

export const canFakeClocks = (): boolean => LIBRARIES.some((library) => existsSync(library))

/** `offset`: for example `+1h`. Only the time of day is faked, not waits. */
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
