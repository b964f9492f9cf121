/** The npm version: the same Sluice, started by a call instead of a tag. */
import type { StartSluice } from './api.ts'
import { push } from './push.ts'
import { startSluice as start } from './start-sluice.ts'

export const startSluice: StartSluice = (options) => start(options, () => Promise.resolve({ push }))
