import { SelectField } from '../../../parts/form/field.tsx'
import { textsOf } from '../../../texts/index.ts'
import type { Member } from '../queries.ts'

export type Role = Member['role']
const ROLES: readonly Role[] = ['owner', 'marketer', 'analyst', 'read-only']

export const readRole = (value: string | undefined): Role => ROLES.find((role) => role === value) ?? 'read-only'

export function RoleField({ value, error }: { value: Role; error: string | undefined }) {
  const texts = textsOf('settings')
  const { roles } = textsOf('shell')
  return (
    <SelectField
      name="role"
      label={texts.role}
      hint={texts.roleHint}
      defaultValue={value}
      error={error}
      options={ROLES.map((role) => ({ value: role, label: `${roles[role]} – ${texts.roleTexts[role]}` }))}
    />
  )
}
