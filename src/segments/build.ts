/** A pass over the contacts of a business, with all of its rules that are being built. A row of `segment_builds`. */
export interface Build {
  business_id: string
  epoch: number
  /** The last contact that was looked at; null at the beginning. */
  cursor: string | null
  /** The contacts of the pass: an estimate. */
  total: number
  requested_at: string
}
