/** `admin recover`: for use after Postgres was restored from a backup. */
import { join } from 'node:path'
import { commandActor } from '../../audit/command-actor.ts'
import type { Config } from '../../config.ts'
import { beginRecovery } from '../../timeline/resync/begin-repair.ts'
import { type Command, CommandError, type Report, type CommandArguments } from '../command.ts'
import { sizeOfSlice } from '../verify/compare-slices.ts'
import { type SessionDeps, countContacts, readClock, requireMigrated, withStores } from '../verify/main.ts'
import { showProgress } from '../verify/show-progress.ts'
import { type Recovered, recover } from './recover.ts'

const NOTES = `Use it when Postgres was restored from a backup and ClickHouse is newer, or when /readyz says that Postgres is older than Redis. Stop all front doors and workers first.
It erases again in Postgres the people whom ClickHouse has marked as erased. It writes the events that only ClickHouse has
  to one NDJSON file for each business. Once the file is on the disk, it removes these events from ClickHouse, and also
  contacts, merges and visitors that Postgres does not know. You can stop it anywhere and run it again: it continues the same files.
Then run admin verify --repair, start everything, and run admin import FILE --business ID for each file. Importing twice does no harm.
The files contain personal data: delete them after the import.
Changes since the backup that are not events are lost (consents, traits, tags, profiles, campaigns, settings, keys).
Before you send any mail, ask your mail provider who has opted out since the backup.`

const recoverEvents: Command = {
  name: 'recover',
  summary: 'After Postgres was restored from a backup: save the events that only ClickHouse has',
  options: { dir: { value: 'DIR', help: 'Folder for the files (DATA_DIR/recovered)' } },
  notes: NOTES,
  run: (config, args) => withStores(config, args, (deps) => run(config, deps, args)),
}
export const RECOVER_COMMANDS: Command[] = [recoverEvents]

async function run(config: Config, deps: SessionDeps, args: CommandArguments): Promise<Report> {
  await requireMigrated(deps.sql)
  await beginRecovery(deps.writer, commandActor('admin recover'))
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
      throw new CommandError('stopped', 'Stopped before the end. To continue, run the same command again')
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
        `${events} events saved to ${file}${withoutIdentity > 0 ? ` (${withoutIdentity} of them have no identity, so an import rejects them)` : ''}.`,
    ),
    ...(files.length === 0 ? ['ClickHouse has no events that Postgres lacks.'] : []),
    `Removed from ClickHouse: these events, and ${contacts} contacts and ${visitors} visitors that Postgres does not know.`,
    ...(anonymous > 0 ? [`${anonymous} events of visitors return when the visitors are identified again.`] : []),
    `People erased again: ${erasures}.`,
    'Next: admin verify --repair, then start the workers and front doors.',
    ...(imports.length > 0 ? ['Then import the events:', ...imports] : []),
  ].join('\n')
}
