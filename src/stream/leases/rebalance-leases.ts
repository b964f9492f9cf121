/**
 * Distributes partitions among workers. Each worker decides on its own from the same facts, and the decisions converge.
 * Pure.
 */
import { kindOf } from '../partitions/partition-of.ts'

export interface LeaseHolder {
  partition: string
  /** Null when no live worker has it. */
  owner: string | null
  /** The worker that suspended the lease because it was cut off from Redis. That worker takes no partitions. */
  suspendedBy?: string | null
}

export interface LeaseFacts {
  /** The name of this worker. */
  me: string
  /** The names of all live workers. */
  workers: string[]
  holders: LeaseHolder[]
  /** The partitions whose loops run in this worker. */
  running: ReadonlySet<string>
}

export interface LeaseMoves {
  /** Partitions to acquire, in this order. */
  acquire: string[]
  /** The partition to release once its save is done. */
  release: string | undefined
}

/**
 * A fair share is the number of partitions divided by the number of workers. It is rounded up while partitions are
 * free, and rounded down while another worker has less than its share. Only the worker with the most partitions
 * releases one at a time.
 */
export function rebalanceLeases(facts: LeaseFacts): LeaseMoves {
  const suspended = new Set(facts.holders.map(({ suspendedBy }) => suspendedBy))
  const workers = new Set([...facts.workers.filter((worker) => !suspended.has(worker)), facts.me])
  const minShare = Math.floor(facts.holders.length / workers.size)
  const maxShare = Math.ceil(facts.holders.length / workers.size)
  const held = countHeld(facts, workers)
  const mine = facts.running.size
  const isAnyShort = [...workers].some((worker) => worker !== facts.me && (held.get(worker) ?? 0) < minShare)

  const share = isAnyShort ? minShare : maxShare
  const free = facts.holders.filter((holder) => isFree(facts, holder)).map((holder) => holder.partition)
  if (mine < share) return { acquire: alternateKinds(free, facts.running).slice(0, share - mine), release: undefined }
  const isSurplus =
    mine > maxShare || (mine > minShare && isAnyShort && free.length === 0 && hasMost(facts.me, mine, held))
  return { acquire: [], release: isSurplus ? ofLargerKind(facts.running) : undefined }
}

/** A partition whose loop still runs here after its lease ended is not free: the loop has to end first. */
const isFree = ({ me, running }: LeaseFacts, { partition, owner }: LeaseHolder): boolean =>
  (owner === null || owner === me) && !running.has(partition)

function countHeld({ me, holders, running }: LeaseFacts, workers: ReadonlySet<string>): Map<string, number> {
  const held = new Map<string, number>([[me, running.size]])
  for (const { owner } of holders) {
    if (owner !== null && owner !== me && workers.has(owner)) held.set(owner, (held.get(owner) ?? 0) + 1)
  }
  return held
}

/**
 * Among workers with the same number, the first by name counts as having the most, so that two workers do not release
 * at once.
 */
function hasMost(me: string, mine: number, held: ReadonlyMap<string, number>): boolean {
  return [...held].every(([worker, count]) => count < mine || (count === mine && worker >= me))
}

/** Alternates between kinds, starting with the kind that this worker has the fewest partitions of. */
function alternateKinds(free: string[], running: ReadonlySet<string>): string[] {
  const counts = new Map<string, number>()
  const count = (partition: string) => counts.get(kindOf(partition)) ?? 0
  const add = (partition: string) => counts.set(kindOf(partition), count(partition) + 1)
  for (const partition of running) add(partition)
  const left = [...free]
  return free.map(() => {
    const next = left.reduce((best, candidate) => (count(candidate) < count(best) ? candidate : best))
    add(next)
    left.splice(left.indexOf(next), 1)
    return next
  })
}

function ofLargerKind(running: ReadonlySet<string>): string | undefined {
  const all = [...running]
  const size = (partition: string) => all.filter((other) => kindOf(other) === kindOf(partition)).length
  return all.reduce<string | undefined>((best, one) => (!best || size(one) > size(best) ? one : best), undefined)
}
