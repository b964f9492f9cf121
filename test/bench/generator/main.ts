/**
 * The load generator. Runs in a separate process, because it must not share an event loop with the product or the
 * measurement.
 */
import { serveTask } from '../task.ts'
import { prepareLoad } from './run-load.ts'

await serveTask(prepareLoad)
