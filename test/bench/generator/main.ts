/** The load generator, a process of its own: it must not share an event loop with what it measures or what measures it. */
import { serveTask } from '../task.ts'
import { prepareLoad } from './run-load.ts'

await serveTask(prepareLoad)
