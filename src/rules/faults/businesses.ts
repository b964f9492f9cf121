/** Of the people of a business, and of its settings. */
export const BUSINESS_FAULTS = {
  // Of people and their accounts.
  wrong_password: 'is not your password',
  wrong_code: 'is wrong: check the clock of your device',
  member_already: 'belongs to a person of this business',
  account_already: 'belongs to another account',
  operator_only: 'can be changed by an operator only',

  // Of the settings of a business.
  currency: 'must be a three-letter ISO 4217 code such as USD, not "{sent}"',
  country: 'must be a two-letter ISO 3166 code such as US or IL, not "{sent}"',
  timezone: 'must be an IANA zone such as Europe/Paris or UTC, not "{sent}"',
  zone: 'must be an IANA time zone, such as Europe/Paris',
  language_tag: 'must be a BCP 47 language tag, such as en or pt-BR',
  origins_up_to: 'must be at most {max} origins',
  origin: 'must be any, or an origin such as https://shop.example, not "{sent}"',
  one_of_not: 'must be one of {choices}, not "{sent}"',
  whole_number_not: 'must be a whole number from {min} to {max}, not "{sent}"',
} as const
