/** `admin recover`: what to do after Postgres was restored from a backup. */
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import { type Command, CommandError, type Report, type CommandArguments } from '../command.ts'
import { sizeOfSlice } from '../verify/compare-business.ts'
import { countContacts } from '../verify/list-businesses.ts'
import { type Deps, readClock, requireMigrated, withStores } from '../verify/main.ts'
import { showProgress } from '../verify/show-progress.ts'
import { type Recovered, recover } from './recover.ts'

const NOTES = `For the case that Postgres came back from a backup and ClickHouse is newer. Stop all front doors and workers first.
It erases again in Postgres whom ClickHouse has marked as erased. It writes the events that only ClickHouse has to one NDJSON file
  for each business, and removes them from ClickHouse once the file is on the disk; also contacts, merges and visitors
  that Postgres does not know. It can be stopped anywhere and run again: the same files are continued.
Then: admin verify --repair, start everything, and admin import FILE --business ID for each file. Importing twice does no harm.
The files hold personal data: delete them when they are imported.
Lost for good: changes since the backup that are no events (consents, traits, tags, profiles, campaigns, settings, keys).
Ask your mail provider who has opted out since the backup before you send anything.`

const recoverEvents: Command = {
  name: 'recover',
  summary: 'After Postgres was restored from a backup: save what only ClickHouse has',
  options: { dir: { value: 'DIR', help: 'Where the files go (DATA_DIR/recovered)' } },
  notes: NOTES,
  run: (config, args) => withStores(config, args, (deps) => run(config, deps, args)),
}
export const RECOVER_COMMANDS: Command[] = [recoverEvents]

async function run(config: Config, deps: Deps, args: CommandArguments): Promise<Report> {
  await requireMigrated(deps.sql)
  const contacts = await countContacts(deps.sql, undefined)
  const progress = showProgress(process.stderr, contacts)
  try {
    const recovered = await recover({
      ...deps,
      ...progress,
      sliceSize: sizeOfSlice(contacts),
      startedAt: await readClock(deps.sql),
      directory: args.text('dir') ?? join(config.dataDir, 'recovered'),
    })
    return { json: recovered, text: toText(recovered) }
  } catch (error) {
    if (deps.signal.aborted)
      throw new CommandError('stopped', 'Stopped before the end. Run the same command again to go on')
    throw error
  } finally {
    progress.end()
  }
}

function toText({ files, contacts, visitors, anonymous, erasures }: Recovered): string {
  const imports = files.map(({ businessId, file }) => `  admin import ${file} --business ${businessId}`)
  return [
    ...files.map(
      ({ file, events, withoutIdentity }) =>
        `${events} events saved to ${file}${withoutIdentity > 0 ? ` (${withoutIdentity} of people without an identity, which an import refuses)` : ''}.`,
    ),
    ...(files.length === 0 ? ['ClickHouse has no events that Postgres lacks.'] : []),
    `Removed from ClickHouse: these events, ${contacts} contacts and ${visitors} visitors that Postgres does not know.`,
    ...(anonymous > 0 ? [`${anonymous} events of visitors come back when the visitors are identified again.`] : []),
    `People erased again: ${erasures}.`,
    'Next: admin verify --repair, then start the workers and front doors.',
    ...(imports.length > 0 ? ['Then import the events:', ...imports] : []),
  ].join('\n')
}
