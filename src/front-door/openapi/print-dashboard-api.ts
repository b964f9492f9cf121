/**
 * Prints the OpenAPI description of the dashboard's API. `npm run build:dashboard` generates the types of the pages
 * from it.
 */
import { DASHBOARD_DESCRIPTION } from '../routes/dashboard/index.ts'

process.stdout.write(JSON.stringify(DASHBOARD_DESCRIPTION))
