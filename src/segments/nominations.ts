/** What ClickHouse has nominated for the passes that are under way. It is kept in memory: a pass that goes on elsewhere asks again. */
import { sleep } from '../async/sleep.ts'
import { loadBusinesses } from '../contacts/load-businesses.ts'
import { describeFault } from '../stores/insert-lines.ts'
import type { Build } from './build.ts'
import { type Nominated, nominateContacts, nominateFirst, ruleToNominate } from './nominate-contacts.ts'
import type { WindowDeps } from './segment-deps.ts'

export interface Nominations {
  /**
   * The contacts that a pass looks at next, from its cursor on; empty: there are none. `walk`: it looks at all contacts. `later`:
   * ClickHouse has not answered yet.
   */
  next(build: Build, most: number): string[] | 'walk' | 'later'
  /** Resolves when ClickHouse has answered for one of the passes, and after `ms` at the latest. */
  wait(ms: number): Promise<void>
  /** Forgets what it knows of the passes over other businesses. */
  keepOnly(businessIds: string[]): void
}

/** `pieceSize`: ids in memory at a time. */
export interface NominationOptions {
  /** Smaller businesses are looked at in less time than it takes to ask. */
  minContacts: number
  /** With more than this share of the contacts of a business, looking at everybody costs as much. */
  mostShare: number
  pieceSize: number
}

const OPTIONS: NominationOptions = { minContacts: 5000, mostShare: 1 / 3, pieceSize: 50_000 }

interface Pass {
  /** Differs from that of other passes over the same business. */
  name: string
  /** Undefined until ClickHouse has answered. */
  answer: Nominated | 'walk' | undefined
  asking: Promise<void>
}

/** Asks beside the caller's other work. When ClickHouse does not answer, or not well, the pass goes on with all contacts. */
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
      // It is asked again.
      .catch(() => {
        if (passes.get(build.business_id) === pass) passes.delete(build.business_id)
      })
    return pass
  }
  return {
    next(build, most) {
      let pass = passes.get(build.business_id)
      if (pass?.name !== nameOf(build)) {
        // For the whole pass: the total is of no use later on.
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

/** Of the progress that is shown. */
async function expectEverybody({ sql }: WindowDeps, { business_id, epoch }: Build): Promise<void> {
  await sql`
    update segment_builds b set total = b.done + (
      select count(*) from contacts c where c.business_id = b.business_id and (b.cursor is null or c.id > b.cursor)
    )
    where business_id = ${business_id} and epoch = ${epoch}`
}

/** Null: all contacts are to be looked at. Notes how many the pass has before it. */
async function nominate(
  deps: WindowDeps,
  { business_id, epoch, cursor }: Build,
  isFirst: boolean,
  { mostShare, pieceSize }: NominationOptions,
  signal: AbortSignal,
): Promise<Nominated | null> {
  // What is cached may be older than the edit.
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
