/** Why a call is refused: `path` names the field (`identity.email`, `tags.3`), `message` says the rule to a person. */
export interface Fault {
  path: string
  message: string
}
