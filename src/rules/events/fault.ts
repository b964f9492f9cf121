/** Why a call is rejected: `path` names the field (`identity.email`, `tags.3`), `message` states the rule for a person to read. */
export interface Fault {
  path: string
  message: string
}
