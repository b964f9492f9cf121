/**
 * One release had what the files 0016 to 0018 bring within 0011 to 0013 already. These are again as the release before had them, and the others bring the rest. A database of that one release is as
 * all of them together leave it: what has to change is the account alone of what was applied.
 */
import type { TransactionSql } from 'postgres'

/** By name: the SHA-256 that a file had in that release. */
export const HAD: Record<string, string> = {
  'postgres/0011_visitors.sql': '734a690b84fe4e26c61fd9eec14b8fe31dae3b47a78e24f6dd400d17040cfb44',
  'postgres/0012_web_events.sql': '5618381c501990de1c4e5fb59e1b3019ef20aa2fc7d3faefc1b1db0bd38e5a72',
  'postgres/0013_deliveries.sql': '6f2a35388d3196ce8dc16a9edf7b9f9335f80b8abbe04c2c6deb3cf67ac188c6',
}
/** What its database has by them. */
export const BROUGHT = [
  'postgres/0016_crowded_visitors.sql',
  'postgres/0017_erasures_beside.sql',
  'postgres/0018_delivery_clicks.sql',
]

/** `numbered`: the files as they are now. Changes nothing in any other database. */
export async function settleAccount(tx: TransactionSql, numbered: { name: string; checksum: string }[]): Promise<void> {
  const found = await tx<{ name: string; checksum: string }[]>`
    select name, checksum from migrations where name in ${tx(Object.keys(HAD))}`
  const former = new Set(found.filter(({ name, checksum }) => HAD[name] === checksum).map(({ name }) => name))
  const isOfThatRelease = former.has('postgres/0011_visitors.sql')
  for (const { name, checksum } of numbered) {
    if (!former.has(name) && !(isOfThatRelease && BROUGHT.includes(name))) continue
    await tx`insert into migrations (name, checksum) values (${name}, ${checksum})
      on conflict (name) do update set checksum = excluded.checksum`
  }
}
