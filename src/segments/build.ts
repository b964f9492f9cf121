/**
 * A pass over the contacts of a business, which evaluates all of its rules that are being built. A row of
 * `segment_builds`.
 */
export interface Build {
  business_id: string
  epoch: number
  /** The last contact that was evaluated; null at the beginning. */
  cursor: string | null
  /** Estimated number of contacts in the pass. */
  total: number
  requested_at: string
  /** Number of rules that are being built. */
  rules: number
}
