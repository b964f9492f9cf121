/** Of contacts and lists. */
export const CONTACT_FAULTS = {
  too_large_a_number: 'is too large for a JSON number: send it as a string',
  whole_phone: 'must be a whole number when it is sent as a number',
  email_parts: 'must have one @ with something on both sides, and no white space',
  one_identity: 'exactly one of email, phone and platformCustomerId is required',
  filters_a_list: 'filters a list: leave out {kind}',
  in_both_tags: 'has a tag that is in addTags, too',
  of_the_contact: 'must be one of the contact',
  removed_as_well: 'must not be in removeIdentities as well',
  one_identity_left: 'must leave the contact at least one identity',
  not_an_identity: 'is a placeholder, not an identity',
  trait: 'must be a string, a finite number, a boolean or null',
  field_type: 'must be of type {type}',
  fields_full: 'is new: the business has {max} custom fields already',
  field_with_value: 'is required with a value',
  value_with_field: 'is required with a field',
  a_filter: 'must have at least one filter',
} as const
