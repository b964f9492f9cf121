/** Who changes something by a command on this machine: the user of the operating system. */
import { userInfo } from 'node:os'
import type { Actor } from './audit.ts'

/** `command`: as typed, such as `admin key create`. */
export function commandActor(command: string): Actor {
  return { kind: 'command', id: osUser(), name: command }
}

/** In a container, a user may have a number and no name. Bun then answers `unknown`. */
function osUser(): string {
  const number = `uid ${process.getuid?.() ?? '?'}`
  try {
    const { username } = userInfo()
    return username === 'unknown' ? number : username
  } catch {
    return number
  }
}
