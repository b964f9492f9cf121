/** A separate process, because it must not share an event loop with the measured processes. */
import { serveTask } from '../../bench/task.ts'
import { prepareLoad } from './send-load.ts'

await serveTask(prepareLoad)
