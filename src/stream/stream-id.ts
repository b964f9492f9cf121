/** Stream ids, `<milliseconds>-<sequence>`: the order of entries in Redis. */

/** The position of a partition without commits. */
export const FIRST_ID = '0-0'

/** Returns a negative number when `a` comes before `b`, and 0 when they are equal. */
export function compareIds(a: string, b: string): number {
  const [aTime, aSequence] = parts(a)
  const [bTime, bSequence] = parts(b)
  return Number(aTime - bTime) || Number(aSequence - bSequence)
}

function parts(id: string): [bigint, bigint] {
  const [time = '', sequence = ''] = id.split('-')
  return [BigInt(time), BigInt(sequence)]
}
