export interface Readiness {
  /** What keeps requests from being taken and applied. */
  blocking: string[]
  /** What comes and goes, or will be felt later: analytics is delayed, a disk fills up, the number of partitions changes. */
  degraded: string[]
}
