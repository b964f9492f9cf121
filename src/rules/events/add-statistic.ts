import type { Statistic } from '../contact-parts.ts'

export function addStatistic(statistics: Map<string, Statistic>, event: string, added: Statistic): void {
  const seen = statistics.get(event)
  statistics.set(event, {
    firstAt: Math.min(added.firstAt, seen?.firstAt ?? Infinity),
    lastAt: Math.max(added.lastAt, seen?.lastAt ?? -Infinity),
    count: added.count + (seen?.count ?? 0),
  })
}
