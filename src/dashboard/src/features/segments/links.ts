/** What other features may use of this one. */
export { Explanation } from './explanation-lazy.ts'
export { beginSegment, isNewSegmentBegun } from './make-segment.ts'
export { MemberCount } from './segment-status.tsx'
export { Trend } from './trend.tsx'
