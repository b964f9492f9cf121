/** The formula of the engagement score, as in the view `contact_engagement` (sql/clickhouse/0003_browser_views.sql). */

/** The time in which a point loses half its value. */
const HALF_LIFE_MS = 14 * 86_400_000

/**
 * Returns an aggregate over rows with `at_ms` and `points`: an integer from 0 to 100, at the instant that an SQL
 * expression gives in epoch ms. Later activity counts in full.
 */
export const scoreSql = (atMs: string, points = 'points'): string =>
  `toUInt8(round(100 * (1 - exp2(-sum(${points} * exp2(-greatest(0, ${atMs} - at_ms) / ${HALF_LIFE_MS})) / 20))))`
