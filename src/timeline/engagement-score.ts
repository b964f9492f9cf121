/** The formula of the engagement score, as in the view `contact_engagement` (sql/clickhouse/0003_browser_views.sql). */

/** A point loses half its value in it. */
const HALF_LIFE_MS = 14 * 86_400_000

/**
 * An aggregate over rows with `at_ms` and `points`: 0 to 100, whole, at the instant of an SQL expression in epoch ms. What happens
 * later counts in full.
 */
export const scoreSql = (atMs: string, points = 'points'): string =>
  `toUInt8(round(100 * (1 - exp2(-sum(${points} * exp2(-greatest(0, ${atMs} - at_ms) / ${HALF_LIFE_MS})) / 20))))`
