export interface Readiness {
  /** Reasons why requests cannot be accepted and applied. */
  blocking: string[]
  /** Problems that do not block: analytics is delayed, a disk is nearly full, the number of partitions changes. */
  degraded: string[]
}
