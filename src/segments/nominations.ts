/**
 * Contacts that ClickHouse has nominated for the passes under way. They are kept in memory: when another process takes
 * over a pass, it queries ClickHouse again.
 */
import { sleep } from '../async/sleep.ts'
import { loadBusinesses } from '../contacts/load/load-businesses.ts'
import { describeFault } from '../stores/insert-lines.ts'
import type { Build } from './build.ts'
import { type Nominated, nominateContacts, nominateFirst, ruleToNominate } from './nominate-contacts.ts'
import type { WindowDeps } from './segment-deps.ts'

export interface Nominations {
  /**
   * Returns the contacts that a pass evaluates next, after its cursor; an empty list when there are none. `walk`: the
   * pass evaluates all contacts. `later`: ClickHouse has not answered yet.
   */
  next(build: Build, most: number): string[] | 'walk' | 'later'
  /** Resolves when ClickHouse has answered for one of the passes, and after `ms` at the latest. */
  wait(ms: number): Promise<void>
  /** Forgets the passes over other businesses. */
  keepOnly(businessIds: string[]): void
}

/** `pieceSize`: number of ids in memory at a time. */
export interface NominationOptions {
  /** Smaller businesses are evaluated faster than ClickHouse answers. */
  minContacts: number
  /** When more than this share of the contacts is nominated, evaluating all contacts costs as much. */
  mostShare: number
  pieceSize: number
}

const OPTIONS: NominationOptions = { minContacts: 5000, mostShare: 1 / 3, pieceSize: 50_000 }

interface Pass {
  /** Distinguishes the passes over one business. */
  name: string
  /** Undefined until ClickHouse has answered. */
  answer: Nominated | 'walk' | undefined
  asking: Promise<void>
}

/**
 * Queries ClickHouse in the background. When ClickHouse does not answer, or too much is missing, the pass evaluates all
 * contacts.
 */
export function createNominations(deps: WindowDeps, signal: AbortSignal, options = OPTIONS): Nominations {
  const passes = new Map<string, Pass>()
  const remember = (build: Build, answer: Pass['answer']): Pass => {
    const pass: Pass = { name: nameOf(build), answer, asking: Promise.resolve() }
    passes.set(build.business_id, pass)
    return pass
  }
  const ask = (build: Build, isFirst: boolean): Pass => {
    const pass = remember(build, undefined)
    pass.asking = nominate(deps, build, isFirst, options, signal)
      .catch((error: unknown) => {
        const details = { businessId: build.business_id, reason: describeFault(error) }
        if (!signal.aborted)
          deps.log.warn(details, 'ClickHouse could not nominate contacts for segments, so all contacts are looked at')
        return null
      })
      .then(async (nominated) => {
        if (!nominated) await expectEverybody(deps, build)
        pass.answer = nominated ?? 'walk'
      })
      // The query is repeated.
      .catch(() => {
        if (passes.get(build.business_id) === pass) passes.delete(build.business_id)
      })
    return pass
  }
  return {
    next(build, most) {
      let pass = passes.get(build.business_id)
      if (pass?.name !== nameOf(build)) {
        // Decided at the start of the pass: later, the total says nothing about the size of the business.
        const isSmall = build.cursor === null && build.total < options.minContacts
        pass = isSmall ? remember(build, 'walk') : ask(build, true)
      }
      for (;;) {
        if (pass.answer === undefined) return 'later'
        if (pass.answer === 'walk') return 'walk'
        const { ids, upTo } = pass.answer
        const left = ids.filter((id) => build.cursor === null || id > build.cursor)
        if (left.length > 0) return left.slice(0, most)
        if (upTo === null) {
          pass.answer = { ...pass.answer, ids: [] }
          return []
        }
        pass = ask({ ...build, cursor: upTo }, false)
      }
    },
    keepOnly(businessIds) {
      const kept = new Set(businessIds)
      for (const id of passes.keys()) if (!kept.has(id)) passes.delete(id)
    },
    wait: (ms) => Promise.race([sleep(ms, signal), ...[...passes.values()].map(({ asking }) => asking)]),
  }
}

const nameOf = ({ epoch, requested_at }: Build): string => `${epoch} ${requested_at}`

/** Updates the total of the progress that users see. */
async function expectEverybody({ sql }: WindowDeps, { business_id, epoch }: Build): Promise<void> {
  await sql`
    update segment_builds b set total = b.done + (
      select count(*) from contacts c where c.business_id = b.business_id and (b.cursor is null or c.id > b.cursor)
    )
    where business_id = ${business_id} and epoch = ${epoch}`
}

/** Returns null when all contacts have to be evaluated. Records how many contacts the pass has before it. */
async function nominate(
  deps: WindowDeps,
  { business_id, epoch, cursor }: Build,
  isFirst: boolean,
  { mostShare, pieceSize }: NominationOptions,
  signal: AbortSignal,
): Promise<Nominated | null> {
  // The cache may be older than the edit.
  const [business] = await loadBusinesses(deps.sql, new Map(), [business_id])
  const rule = business ? ruleToNominate(business, deps.now()) : null
  if (!business || !rule) return null
  const asked = { business, rule, after: cursor, pieceSize }
  if (!isFirst) return await nominateContacts(deps, asked, signal)
  const first = await nominateFirst(deps, asked, mostShare, signal)
  if (first)
    await deps.sql`
      update segment_builds set total = done + ${first.count} where business_id = ${business_id} and epoch = ${epoch}`
  return first
}
