/** A process of its own: it must not share an event loop with what it measures. */
import { serveTask } from '../../bench/task.ts'
import { prepareLoad } from './send-load.ts'

await serveTask(prepareLoad)
