/** What other features may use of this one. */
export { keepDraft, readDraft } from './edit/draft.ts'
export { Explanation } from './explanation-lazy.ts'
export { MemberCount } from './segment-status.tsx'
export { Trend } from './trend.tsx'
