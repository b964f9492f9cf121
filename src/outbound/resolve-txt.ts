/** Looks up texts in the DNS. */
import { Resolver } from 'node:dns/promises'
import { raceAbort } from '../async/race-abort.ts'

const TRY_MS = 1500
/** Of a name, with all tries at all servers. */
const NAME_MS = 5000

/** Codes that say that there is nothing. */
const NONE = new Set(['ENOTFOUND', 'ENODATA'])

/**
 * The texts at a name, each joined from its parts; empty when there are none. Rejects when no server answers in time. `servers`: in place
 * of those of the system.
 */
export async function resolveTxt(name: string, servers?: readonly string[]): Promise<string[]> {
  const resolver = new Resolver({ timeout: TRY_MS, tries: 2 })
  if (servers !== undefined) resolver.setServers([...servers])
  try {
    const found = await raceAbort(resolver.resolveTxt(name), AbortSignal.timeout(NAME_MS))
    const texts = found.map((parts) => parts.join(''))
    return found.some((parts) => parts.length > 1) ? texts : joinParts(texts)
  } catch (error) {
    if (NONE.has((error as { code?: string }).code ?? '')) return []
    throw error
  }
}

/** A part of a text has at most this number of bytes. */
const PART_BYTES = 255

/** Bun takes each part of a text for a text of its own. One that is full is taken for a part. */
function joinParts(parts: readonly string[]): string[] {
  const texts: string[] = []
  let isFull = false
  for (const part of parts) {
    if (isFull) texts.push((texts.pop() ?? '') + part)
    else texts.push(part)
    isFull = Buffer.byteLength(part) === PART_BYTES
  }
  return texts
}
