/** `admin user …`: changes and removes the rights of users. */
import { commandActor } from '../audit/command-actor.ts'
import { removeLinks, revokeLostInvitations } from '../accounts/links.ts'
import {
  MAX_MEMBERS,
  type MemberChange,
  deletePerson,
  listOnlyOwned,
  removeMember,
  setRole,
} from '../accounts/members.ts'
import { ROLES, type Role } from '../accounts/rights.ts'
import { endSessions } from '../accounts/sessions.ts'
import { type Credentials, countOperators, setOperator } from '../accounts/users.ts'
import type { Config } from '../config.ts'
import type { Queryable } from '../stores/postgres.ts'
import { inTransaction } from '../stores/transaction.ts'
import { requireBusiness } from './business.ts'
import { type Command, type CommandArguments, CommandError, UsageError } from './command.ts'
import { changeOf, checkEmail, requireUser } from './find-user.ts'
import { withPostgres } from './open-postgres.ts'
import { checkId } from './read-option.ts'
import { recordCommand } from './record-command.ts'

const EMAIL = ['EMAIL']
const businessOption = (help: string) => ({ value: 'ID', help })

const changeRole: Command = {
  name: 'user set-role',
  summary: 'Add a user to a business, or change their role in it',
  positionals: EMAIL,
  options: {
    business: businessOption('The business'),
    role: { value: ROLES.join('|'), help: 'Their role in it' },
  },
  required: ['business', 'role'],
  async run(config, args) {
    const role = checkRole(args)
    const { email, businessId, lost } = await changeMember(
      config,
      args,
      'set-role',
      async (tx, { businessId, user }) => {
        await recordCommand(tx, 'user set-role', changeOf(user, 'person.role', { businessId, role }))
        return setRole(tx, businessId, user.id, role)
      },
    )
    const text = `${email} has the role ${role} in the business ${businessId}${tellLost(lost)}`
    return { json: { email, businessId, role, revokedInvitations: lost }, text }
  },
}

const removeRole: Command = {
  name: 'user remove-role',
  summary: 'Remove a user from a business; their account stays',
  positionals: EMAIL,
  options: { business: businessOption('The business') },
  required: ['business'],
  async run(config, args) {
    const { email, businessId, lost } = await changeMember(
      config,
      args,
      'remove-role',
      async (tx, { businessId, user }) => {
        await recordCommand(tx, 'user remove-role', changeOf(user, 'person.remove', { businessId }))
        return removeMember(tx, businessId, user.id)
      },
    )
    const text = `${email} is no longer in the business ${businessId}${tellLost(lost)}`
    return { json: { email, businessId, role: null, revokedInvitations: lost }, text }
  },
}

const grantOperator: Command = {
  name: 'user grant-operator',
  summary: 'Make a user an operator: they see every business and Operations',
  positionals: EMAIL,
  async run(config, args) {
    const email = checkEmail(args)
    const operators = await changeUser(config, email, async (tx, id) => {
      await setOperator(tx, id, true)
      await recordCommand(tx, 'user grant-operator', changeOf({ id, email }, 'person.grant-operator'))
      return countOperators(tx)
    })
    return { json: { email, isOperator: true, operators }, text: `${email} is an operator` }
  },
}

const revokeOperator: Command = {
  name: 'user revoke-operator',
  summary: 'Make an operator an ordinary user, who sees only the businesses in which they have a role',
  positionals: EMAIL,
  async run(config, args) {
    const email = checkEmail(args)
    const { left, lost } = await changeUser(config, email, async (tx, id) => {
      await setOperator(tx, id, false)
      await recordCommand(tx, 'user revoke-operator', changeOf({ id, email }, 'person.revoke-operator'))
      return { lost: await revokeLost(tx, id, 'revoke-operator'), left: await countOperators(tx) }
    })
    return {
      json: { email, isOperator: false, operators: left, revokedInvitations: lost },
      text: `${email} is not an operator${tellLost(lost)}${warnOfNone(left)}`,
    }
  },
}

const endUserSessions: Command = {
  name: 'user end-sessions',
  summary: 'Sign a user out everywhere; their links to sign in become invalid too',
  positionals: EMAIL,
  async run(config, args) {
    const email = checkEmail(args)
    const ended = await changeUser(config, email, async (tx, id) => {
      await removeLinks(tx, email)
      await recordCommand(tx, 'user end-sessions', changeOf({ id, email }, 'person.end-sessions'))
      return endSessions(tx, id)
    })
    return { json: { email, ended }, text: `${ended} ${ended === 1 ? 'session has' : 'sessions have'} ended` }
  },
}

const remove: Command = {
  name: 'user delete',
  summary: 'Delete a user at once, with their sessions, roles and links; the audit log keeps what they did',
  positionals: EMAIL,
  options: { yes: { help: 'Confirm: this cannot be undone' } },
  notes: `The only owner of a business is not deleted: first make another person its owner, with admin user set-role.
An open invitation of the address is revoked too, and those that the user has made. An owner can invite them again.`,
  async run(config, args) {
    const email = checkEmail(args)
    if (!args.flag('yes')) throw new UsageError('Deleting a user cannot be undone. To confirm, add --yes')
    const { left, lost } = await withPostgres(config, async (sql) => {
      const { id } = await requireUser(sql, email)
      const deletion = inTransaction(sql, async (tx) => {
        await recordCommand(tx, 'user delete', changeOf({ id, email }, 'person.delete'))
        requireDone(await deletePerson(tx, id), email)
        return { lost: await revokeLost(tx, id, 'delete'), left: await countOperators(tx) }
      })
      return deletion.catch(async (error: unknown) => {
        if (!(error instanceof CommandError) || error.code !== 'last_owner') throw error
        // Reads the current businesses, because another owner may have been removed in the meantime.
        const businesses = await listOnlyOwned(sql, id)
        throw businesses.length === 0 ? error : onlyOwner(email, businesses)
      })
    })
    return {
      json: { email, deleted: true, operators: left, revokedInvitations: lost },
      text: `${email} was deleted${tellLost(lost)}${warnOfNone(left)}`,
    }
  },
}

const warnOfNone = (operators: number): string =>
  operators > 0 ? '' : '. No operator is left. To make one: admin user grant-operator, or admin user create --operator'

const revokeLost = (tx: Queryable, userId: string, command: string): Promise<string[]> =>
  revokeLostInvitations(tx, userId, commandActor(`admin user ${command}`))

const tellLost = (invited: string[]): string =>
  invited.length === 0 ? '' : `. Their open invitations are revoked: ${invited.join(', ')}`

function checkRole(args: CommandArguments): Role {
  const role = ROLES.find((one) => one === args.text('role'))
  if (role === undefined) throw new UsageError(`--role must be one of ${ROLES.join(', ')}`)
  return role
}

/** Changes a user and writes to the audit log in one transaction. */
async function changeUser<Report>(
  config: Config,
  email: string,
  change: (tx: Queryable, userId: string) => Promise<Report>,
): Promise<Report> {
  return withPostgres(config, (sql) =>
    inTransaction(sql, async (tx) => {
      const { id } = await requireUser(tx, email)
      return change(tx, id)
    }),
  )
}

async function changeMember(
  config: Config,
  args: CommandArguments,
  command: string,
  change: (tx: Queryable, who: { businessId: string; user: Credentials }) => Promise<MemberChange>,
): Promise<{ email: string; businessId: string; lost: string[] }> {
  const email = checkEmail(args)
  const businessId = checkId('--business', args.text('business') ?? '')
  const lost = await withPostgres(config, (sql) =>
    inTransaction(sql, async (tx) => {
      const user = await requireUser(tx, email)
      await requireBusiness(tx, businessId)
      requireDone(await change(tx, { businessId, user }), email)
      return revokeLost(tx, user.id, command)
    }),
  )
  return { email, businessId, lost }
}

/** Throws, because the transaction has failed when the database refuses a change. */
function requireDone(change: MemberChange, email: string): void {
  if (change === 'done') return
  const messages = {
    not_found: `${email} is not in this business`,
    too_many: `A business has ${MAX_MEMBERS} people at most`,
    last_owner: 'The business would have no owner. First make another person its owner: admin user set-role',
  }
  throw new CommandError(change === 'not_found' ? 'not_a_member' : change, messages[change])
}

function onlyOwner(email: string, businesses: { id: string; name: string }[]): CommandError {
  const named = businesses.map(({ id, name }) => `${name} (${id})`).join(', ')
  return new CommandError(
    'last_owner',
    `${email} is the only owner of ${named}. First make another person its owner: admin user set-role`,
  )
}

export const USER_ACCESS_COMMANDS: Command[] = [
  changeRole,
  removeRole,
  grantOperator,
  revokeOperator,
  endUserSessions,
  remove,
]
