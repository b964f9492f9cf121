/** `admin user …`: the people who use the dashboard. */
import { LINK_HOURS } from '../accounts/links.ts'
import { addUser, linkUser } from '../accounts/manage-users.ts'
import { MAX_MEMBERS } from '../accounts/members.ts'
import { ROLES } from '../accounts/rights.ts'
import { removeSecondFactor } from '../accounts/second-factor.ts'
import { linkUrl } from '../accounts/system-mail.ts'
import { listUsers } from '../accounts/users.ts'
import { commandActor } from '../audit/command-actor.ts'
import type { Config } from '../config.ts'
import { findFrontDoorUrl } from '../stores/data-dir.ts'
import { businessNotFound } from './business.ts'
import { type Command, CommandError, type Report, UsageError } from './command.ts'
import { checkEmail, requireUser, userNotFound } from './find-user.ts'
import { formatTable } from './format-help.ts'
import { withPostgres } from './open-postgres.ts'
import { checkId } from './read-option.ts'
import { USER_ACCESS_COMMANDS } from './user-access.ts'

const ORDER = 'the first person of a business has to be its owner'

const create: Command = {
  name: 'user create',
  summary: 'Create a user, and print a link that signs them in once',
  positionals: ['EMAIL'],
  options: {
    operator: { help: 'Make them an operator: they see every business and Operations' },
    business: { value: 'ID', help: 'Add them to this business; needs --role' },
    role: { value: ROLES.join('|'), help: `Their role in the business; ${ORDER}` },
  },
  async run(config, args) {
    const email = checkEmail(args)
    const businessId = args.text('business') === undefined ? null : checkId('--business', args.text('business') ?? '')
    const role = ROLES.find((one) => one === args.text('role'))
    if ((businessId === null) !== (args.text('role') === undefined)) {
      throw new UsageError('--business and --role belong together')
    }
    if (businessId !== null && role === undefined) throw new UsageError(`--role must be one of ${ROLES.join(', ')}`)
    const membership = businessId !== null && role !== undefined ? { businessId, role } : null
    const outcome = await withPostgres(config, async (sql) => {
      const actor = commandActor('admin user create')
      return addUser(sql, actor, { email, isOperator: args.flag('operator'), membership })
    })
    if (outcome.kind === 'not_found') throw businessNotFound(businessId ?? '')
    if (outcome.kind === 'user_exists') throw new CommandError('user_exists', `There is a user ${email} already`)
    if (outcome.kind === 'too_many') throw new CommandError('too_many', `A business has ${MAX_MEMBERS} people at most`)
    if (outcome.kind !== 'added') throw new CommandError(outcome.kind, `The role was not given: ${ORDER}`)
    return showLink(config, email, outcome.token)
  },
}

const link: Command = {
  name: 'user link',
  summary: 'Print a link that signs a user in once, for a forgotten password',
  positionals: ['EMAIL'],
  async run(config, args) {
    const email = checkEmail(args)
    const token = await withPostgres(config, async (sql) => {
      const user = await requireUser(sql, email)
      return linkUser(sql, commandActor('admin user link'), user)
    })
    return showLink(config, email, token)
  },
}

const removeFactor: Command = {
  name: 'user remove-second-factor',
  summary: 'Turn the second factor of a user off, for a lost device',
  positionals: ['EMAIL'],
  async run(config, args) {
    const email = checkEmail(args)
    const { kind } = await withPostgres(config, async (sql) => {
      const user = await requireUser(sql, email)
      return removeSecondFactor(sql, commandActor('admin user remove-second-factor'), user)
    })
    if (kind === 'not_found') throw userNotFound(email)
    return { json: { email, hasTotp: false }, text: `${email} signs in with the password alone` }
  },
}

const list: Command = {
  name: 'user list',
  summary: 'List all users',
  async run(config) {
    const users = (await withPostgres(config, listUsers)).map((one) => ({
      ...one,
      createdAt: one.createdAt.toISOString(),
    }))
    const lines = users.map(({ email, name, isOperator, hasTotp }) => [
      email,
      isOperator ? 'operator' : '-',
      hasTotp ? 'yes' : 'no',
      name,
    ])
    const text = lines.length
      ? formatTable([['EMAIL', 'OPERATOR', 'SECOND FACTOR', 'NAME'], ...lines])
      : 'There are no users yet'
    return { json: { users }, text }
  },
}

async function showLink(config: Config, email: string, token: string): Promise<Report> {
  const url = linkUrl(config.publicUrl ?? (await findFrontDoorUrl(config)), token)
  const text = `Open this link once within ${LINK_HOURS['sign-in']} hours to sign in as ${email}:\n${url}`
  return { json: { email, url }, text }
}

export const USER_COMMANDS: Command[] = [create, link, removeFactor, list, ...USER_ACCESS_COMMANDS]
