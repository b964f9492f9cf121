/** The npm form: the same Sluice, started by a call instead of by a tag. */
export { startSluice } from './start-sluice.ts'
