/** Returns whether the header `Prefer` names this preference. */
export function prefers(request: Request, preference: string): boolean {
  const named = request.headers.get('prefer')?.split(/[,;]/) ?? []
  return named.some((one) => one.trim().toLowerCase() === preference)
}

const LONGEST_WAIT = 10

/** Returns the seconds of the preference `wait` (RFC 7240), at most 10; null without one. */
export function readWait(request: Request): number | null {
  const named = request.headers.get('prefer')?.split(/[,;]/) ?? []
  const seconds = named.flatMap((one) => /^\s*wait\s*=\s*"?([1-9]\d{0,3})"?\s*$/i.exec(one)?.[1] ?? [])[0]
  return seconds === undefined ? null : Math.min(Number(seconds), LONGEST_WAIT)
}
