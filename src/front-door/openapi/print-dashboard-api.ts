/** For `npm run build:dashboard`, which makes the types of the pages from it. */
import { DASHBOARD_DESCRIPTION } from '../routes/dashboard/index.ts'

process.stdout.write(JSON.stringify(DASHBOARD_DESCRIPTION))
