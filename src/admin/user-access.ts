/** `admin user …`: changes and removes the rights of users. */
import type { Change } from '../audit/audit.ts'
import { commandActor } from '../audit/command-actor.ts'
import { type MemberOutcome, type MemberRefusal, changeRole, removeMember } from '../accounts/change-members.ts'
import { deleteUser, endUserSessions, setOperator } from '../accounts/manage-users.ts'
import { MAX_MEMBERS } from '../accounts/members.ts'
import { ROLES, type Role } from '../accounts/rights.ts'
import type { UserName } from '../accounts/users.ts'
import type { Config } from '../config.ts'
import type { Sql } from '../stores/postgres.ts'
import { requireBusiness } from './business.ts'
import { type Command, type CommandArguments, CommandError, UsageError } from './command.ts'
import { checkEmail, requireUser, userNotFound } from './find-user.ts'
import { withPostgres } from './open-postgres.ts'
import { checkId } from './read-option.ts'

const EMAIL = ['EMAIL']
const businessOption = (help: string) => ({ value: 'ID', help })

const setRole: Command = {
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
    const { email, businessId, lost } = await changeMember(config, args, 'set-role', (sql, change, { id }) =>
      changeRole(sql, change, { userId: id, role, canAdd: true }),
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
    const { email, businessId, lost } = await changeMember(config, args, 'remove-role', (sql, change, { id }) =>
      removeMember(sql, change, id),
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
    const outcome = await changeUser(config, email, (sql, user) =>
      setOperator(sql, commandActor('admin user grant-operator'), user, true),
    )
    if (outcome.kind === 'not_found') throw userNotFound(email)
    return { json: { email, isOperator: true, operators: outcome.operators }, text: `${email} is an operator` }
  },
}

const revokeOperator: Command = {
  name: 'user revoke-operator',
  summary: 'Make an operator an ordinary user, who sees only the businesses in which they have a role',
  positionals: EMAIL,
  async run(config, args) {
    const email = checkEmail(args)
    const outcome = await changeUser(config, email, (sql, user) =>
      setOperator(sql, commandActor('admin user revoke-operator'), user, false),
    )
    if (outcome.kind === 'not_found') throw userNotFound(email)
    const { operators, revokedInvitations } = outcome
    return {
      json: { email, isOperator: false, operators, revokedInvitations },
      text: `${email} is not an operator${tellLost(revokedInvitations)}${warnOfNone(operators)}`,
    }
  },
}

const endSessions: Command = {
  name: 'user end-sessions',
  summary: 'Sign a user out everywhere; their links to sign in become invalid too',
  positionals: EMAIL,
  async run(config, args) {
    const email = checkEmail(args)
    const outcome = await changeUser(config, email, (sql, user) =>
      endUserSessions(sql, commandActor('admin user end-sessions'), user),
    )
    if (outcome.kind === 'not_found') throw userNotFound(email)
    const { ended } = outcome
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
    const outcome = await changeUser(config, email, (sql, user) =>
      deleteUser(sql, commandActor('admin user delete'), user),
    )
    if (outcome.kind === 'not_found') throw userNotFound(email)
    if (outcome.kind === 'last_owner') throw onlyOwner(email, outcome.businesses)
    const { operators, revokedInvitations } = outcome
    return {
      json: { email, deleted: true, operators, revokedInvitations },
      text: `${email} was deleted${tellLost(revokedInvitations)}${warnOfNone(operators)}`,
    }
  },
}

const warnOfNone = (operators: number): string =>
  operators > 0 ? '' : '. No operator is left. To make one: admin user grant-operator, or admin user create --operator'

const tellLost = (invited: string[]): string =>
  invited.length === 0 ? '' : `. Their open invitations are revoked: ${invited.join(', ')}`

function checkRole(args: CommandArguments): Role {
  const role = ROLES.find((one) => one === args.text('role'))
  if (role === undefined) throw new UsageError(`--role must be one of ${ROLES.join(', ')}`)
  return role
}

const changeUser = <Outcome>(
  config: Config,
  email: string,
  change: (sql: Sql, user: UserName) => Promise<Outcome>,
): Promise<Outcome> => withPostgres(config, async (sql) => change(sql, await requireUser(sql, email)))

async function changeMember(
  config: Config,
  args: CommandArguments,
  command: string,
  apply: (sql: Sql, change: Change, user: UserName) => Promise<MemberOutcome>,
): Promise<{ email: string; businessId: string; lost: string[] }> {
  const email = checkEmail(args)
  const businessId = checkId('--business', args.text('business') ?? '')
  const outcome = await changeUser(config, email, async (sql, user) => {
    const applied = await apply(sql, { businessId, actor: commandActor(`admin user ${command}`) }, user)
    if (applied.kind === 'not_found') {
      await requireBusiness(sql, businessId)
      // The user may have been deleted in the meantime.
      await requireUser(sql, email)
    }
    return applied
  })
  if (outcome.kind !== 'done') throw refusal(outcome, email)
  return { email, businessId, lost: outcome.revokedInvitations }
}

function refusal({ kind }: MemberRefusal, email: string): CommandError {
  const messages = {
    not_found: `${email} is not in this business`,
    too_many: `A business has ${MAX_MEMBERS} people at most`,
    last_owner: NO_OWNER,
  }
  return new CommandError(kind === 'not_found' ? 'not_a_member' : kind, messages[kind])
}

const NO_OWNER = 'The business would have no owner. First make another person its owner: admin user set-role'

function onlyOwner(email: string, businesses: { id: string; name: string }[]): CommandError {
  if (businesses.length === 0) return new CommandError('last_owner', NO_OWNER)
  const named = businesses.map(({ id, name }) => `${name} (${id})`).join(', ')
  return new CommandError(
    'last_owner',
    `${email} is the only owner of ${named}. First make another person its owner: admin user set-role`,
  )
}

export const USER_ACCESS_COMMANDS: Command[] = [setRole, removeRole, grantOperator, revokeOperator, endSessions, remove]
