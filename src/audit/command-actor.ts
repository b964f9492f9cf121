/** The actor of a command on this machine: the operating system user. */
import { userInfo } from 'node:os'
import type { Actor } from './audit.ts'

/** `command` as typed, such as `admin key create`. */
export function commandActor(command: string): Actor {
  return { kind: 'command', id: osUser(), name: command }
}

/** In a container, a user may have a number but no name. Bun then returns `unknown`. */
function osUser(): string {
  const number = `uid ${process.getuid?.() ?? '?'}`
  try {
    const { username } = userInfo()
    return username === 'unknown' ? number : username
  } catch {
    return number
  }
}
