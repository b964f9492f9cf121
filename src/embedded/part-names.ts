/** The directories of a ClickHouse table, by their names: `PARTITION_FIRST_LAST_LEVEL`, and `_MUTATION` if one changed it. */

/** The inserts from number `first` to number `last` of a partition (`all` where there are none). */
export interface Part {
  name: string
  partition: string
  first: number
  last: number
  mutation: number
  /** By a merge or a mutation, not by an insert. */
  isMade: boolean
}

/** None for what is no part. */
export function readPart(name: string): Part[] {
  const [, partition, first, last, level, mutation] = /^([^_]+)_(\d+)_(\d+)_(\d+)(?:_(\d+))?$/.exec(name) ?? []
  if (partition === undefined) return []
  const isMade = level !== '0' || mutation !== undefined
  return [{ name, partition, first: Number(first), last: Number(last), mutation: Number(mutation ?? 0), isMade }]
}

export const holds = (wide: Part, part: Part): boolean =>
  wide.partition === part.partition && wide.first <= part.first && part.last <= wide.last

/** Those that lie within no other. Most of thousands lie within a few that came of them. */
export function widest<P extends Part>(parts: P[]): P[] {
  const found: P[] = []
  for (const part of parts.toSorted((a, b) => a.first - b.first || b.last - a.last || b.mutation - a.mutation))
    if (!found.some((wide) => holds(wide, part))) found.push(part)
  return found
}
