/**
 * What can be wrong with a field, in words: `{name}` stands for a value. The codes do not change between versions. The dashboard
 * has each text in its other languages, too (src/dashboard/src/texts).
 */

export const FAULTS = {
  // Of any field.
  required: 'is required',
  at_least_one: 'at least one of {fields} is required',
  not_empty: 'must not be empty: null clears it',
  text: 'must be a string',
  text_or_null: 'must be a string or null',
  text_of: 'must be a string of {min} to {max} characters',
  text_up_to: 'must be a string of at most {max} characters',
  characters: 'must be {min} to {max} characters',
  characters_up_to: 'must be at most {max} characters',
  bytes_up_to: 'must have at most {max} bytes',
  clean_text: 'must not hold NUL characters or lone surrogates',
  number: 'must be a finite number',
  number_from_0: 'must be a number, 0 or more',
  whole_number_from_0: 'must be a whole number, 0 or more',
  whole_number: 'must be a whole number from {min} to {max}',
  boolean: 'must be true or false',
  null: 'must be null',
  object: 'must be an object',
  a_field: 'at least one field is required',
  fields_up_to: 'must have at most {max} fields',
  object_of: 'must be an object with {fields}',
  items: 'must be an array of {min} to {max} items',
  items_up_to: 'must be an array of at most {max} items',
  one_of: 'must be one of {choices}',
  exactly: 'must be "{value}"',
  form: 'must be {form}',
  unknown_word: 'does not belong there',
  json: 'must be JSON',
  email: 'must be an email address',
  email_or_phone: 'must be an email address or a phone number',
  id: 'must be an id',
  contact_id: 'must be the id of a contact',
  destination_id: 'must be the id of a destination',
  dead_letter_id: 'must be the id of a dead letter',
  query_id: 'must be the id of a saved query',
  cursor: 'must be the nextCursor of an earlier page of this list',
  date: 'must be a date such as 2026-02-28, of the years 1900 to 2299',
  instant: 'must be an ISO 8601 date or date-time',
  before_to: 'must be before to',
  not_after_to: 'must not be after to',
  later_than_from: 'must be later than from',
  days_after_from: 'must be at most {max} days after from',
  days_apart: 'and to are at most {max} days apart',
  name_taken: 'is taken already',

  // Of people and their accounts.
  wrong_password: 'is not your password',
  wrong_code: 'is wrong: check the clock of your device',
  member_already: 'belongs to a person of this business',
  account_already: 'belongs to another account',
  operator_only: 'can be changed by an operator only',

  // Of the settings of a business.
  currency: 'must be a code of 1 to 8 letters or digits such as USD, not "{sent}"',
  country: 'must be a two-letter ISO 3166 code such as US or IL, not "{sent}"',
  timezone: 'must be an IANA zone such as Europe/Paris or UTC, not "{sent}"',
  zone: 'must be an IANA time zone, such as Europe/Paris',
  language_tag: 'must be a BCP 47 language tag, such as en or pt-BR',
  origins_up_to: 'must be at most {max} origins',
  origin: 'must be any, or an origin such as https://shop.example, not "{sent}"',
  one_of_not: 'must be one of {choices}, not "{sent}"',
  whole_number_not: 'must be a whole number from {min} to {max}, not "{sent}"',

  // Of contacts and lists.
  too_large_a_number: 'is too large for a JSON number: send it as a string',
  whole_phone: 'must be a whole number when it is sent as a number',
  email_parts: 'must have one @ with something on both sides, and no white space',
  one_identity: 'exactly one of email, phone and platformCustomerId is required',
  filters_a_list: 'filters a list: leave out {kind}',
  in_both_tags: 'has a tag that is in addTags, too',
  trait: 'must be a string, a finite number, a boolean or null',
  field_type: 'must be of type {type}',
  fields_full: 'is new: the business has {max} custom fields already',
  field_with_value: 'is required with a value',
  value_with_field: 'is required with a field',
  a_filter: 'must have at least one filter',

  // Of rules: segments, branches, conditions on properties.
  condition: 'must be an object: a group or a condition',
  one_kind: 'must have exactly one of the words {words}',
  rule_levels: 'is at level {level}: a rule has at most {max} levels',
  group: 'must be a list of 1 to {max} rules',
  rule_conditions: 'is one condition too many: a rule has at most {max}',
  json_size: 'must be at most 32 KiB of JSON',
  where: 'must be a list of at most {max} conditions on properties',
  where_item: 'must be an object with property, operator and value',
  real_instant: 'must be a real ISO 8601 date or date-time',
  plain_number: 'must be a number',
  decimal: 'must be a number or a decimal string',
  days: 'must be a number of days, above 0 and at most {max}',
  range: 'must be a list of two, from and to, each a number',
  decimal_range: 'must be a list of two, from and to, each a number or a decimal string',
  lesser_first: 'must begin with the lesser number',
  texts: 'must be a list of 1 to {max} strings',
  not_a_segment: 'is not a segment',
  leads_to_itself: 'leads back to the segment itself',
  nesting: 'is nested over {max} segments deep',
  conditions_with_named: 'has over {max} conditions with those of the segments that it names',
  size_with_named: 'is over {max} characters long with the rules of the segments that it names',
  outer_nesting: 'would make the rule of segment {segment}, which names this one, nest over {max} segments deep',
  outer_conditions: 'would make the rule of segment {segment}, which names this one, have over {max} conditions',
  outer_size: 'would make the rule of segment {segment}, which names this one, be over {max} characters long',

  // Of campaigns.
  time_of_day: 'must be a time from 00:00 to 23:59, such as 09:00',
  percent: 'must be a number from {min} to {max}, with at most 2 decimals',
  an_update: 'must have at least one of addTags, removeTags and traits',
  tags: 'must be a list of tags',
  traits: 'must be an object of custom fields',
  skipped_trait: 'has what a call would skip: {warning}',
  caps: 'must be a list of at most {max} caps',
  cap_days: 'must be a number above 0 and at most {max}',
  unreachable: 'cannot be reached: {step} always ends the enrolment',
  not_the_goal: 'must differ from goal.event, which ends the enrolment',
  not_the_trigger: 'must differ from trigger.event',
  steps: 'must be a list of steps',
  step_levels: 'is at level {level}: steps have at most {max} levels',
  too_many_steps: 'is one step too many: a campaign has at most {max}',
  step: 'must be an object with a type',
  step_id_twice: 'is the id of another step, too',
  step_id_of_type: 'is the id of a step of the type {type} in an earlier version',
  template_id: 'must be the id of a template',
  duration:
    'must be an ISO 8601 duration of weeks, days, hours, minutes and seconds such as P3D or PT90M, above zero and at most P365D',
  weekdays: 'must be a list of different whole numbers from 1, which is Monday, to 7',
  parts: 'must be a list of 1 to {max} parts',
  hundred_percent: 'must have percents that are 100 together, not {sum}',
  web_property: 'must be one of {choices} in a trigger by {trigger}',
  compares_with: 'must compare with a {type}',
  sources: 'must be ["live"], or be left out',
  segment_of_business: 'is not a segment of the business',
  template_of_business: 'is not a template of the business',
  template_for: 'is a template for {channel}',
  once_in_a_broadcast: 'must be false in a broadcast, which enrols each contact once',
  for_a_broadcast: 'is for a broadcast, whose trigger.on is members',
  days_ahead: 'must be at most {max} days ahead',
  web_campaigns: 'at most {max} campaigns that page views start can be published or paused',
  either_contact: 'either contactId or contact is required, and not both',
  of_the_type: 'is of the type {type}',
  too_many_instants: 'the simulation takes more than {max} instants',

  no_provider: 'there is no provider {provider} of {channel}',
  secrets_unopened: 'the secrets of the channel cannot be opened: enter them again',
  settings_incomplete: 'the settings of the channel are not complete: {field}',

  // Of recipients of tests.
  suppressed: 'is a suppressed address: lift the suppression to send to it',
  one_email: 'must be one email address, such as ada@example.com',
  phone: 'must be a phone number, such as +972501234567',

  // Of templates.
  texts_up_to: 'must be a list of at most {max} texts',
  name_of_provider: 'must be a name of the provider',
  clean_string: 'must be a text without NUL characters and lone surrogates',
  default_language: 'must be one of the variants',
  language_name: 'must be named by a language such as en or pt-BR',
  there_twice: 'is there twice',
  one_body: 'must have {parts}',
  html_or_mjml: 'must have html or mjml, not both',
  not_of_channel: 'is not a field of the channel {channel}',
  languages: 'must have 1 to {max} languages',
  no_confirm_url: 'has no {value} in the variant {language}',
  of_template_for: 'is of a template for {channel}',

  // Of channels, destinations and confirmations.
  version: 'must be a version such as {example}',
  credential: 'must be 1 to {max} characters without spaces',
  platform_number: "must be the platform's number, only digits",
  test_event_code: 'must be a code such as TEST12345',
  conversion_actions: 'must be numbers of conversion actions for purchase, lead or booking',
  signing_key: 'must be a key of {min} to {max} characters',
  host_name: 'must be a host name or an IP address',
  port: 'must be a port from 1 to 65535',
  message_stream: 'must be the id of a message stream: 1 to 100 letters, digits, - or _',
  name_without_colon: 'must be a name of 1 to {max} characters without a colon',
  phone_number_id: 'must be the id of a phone number: 1 to 32 digits',
  account_sid: 'must be the SID of an account, which begins with AC',
  twilio_sender:
    'must be a phone number such as +15005550006, a short code, a sender ID, or the SID of a messaging service',
  aws_region: 'must be a region of AWS, such as eu-central-1',
  access_key_id: 'must be the id of an access key: 4 to 128 letters and digits',
  configuration_set: 'must be the name of a configuration set: 1 to 64 letters, digits, - or _',
  host: 'must be a host name or an IP address, not {host}',
  password_again: 'is required, and again when host, port or user change',
  user_with_password: 'is required with a password',
  push_subject: 'must be mailto: and an email address, or an https address',
  https_address: 'must be an https address',
  http_address: 'must be an http or https address without a password',
  secret_again: 'is required, and again when one of these changes: {fields}',
  secret_with_host: 'is required, and again when the host of url changes',
  mailbox: 'must be an address such as hello@shop.example or Shop <hello@shop.example>',
  an_address: 'is not an address',
  no_setting_of: 'is not a setting of {kind}',
  missing: 'is missing',
  no_setting: 'there is no setting {name}. Remove it',
  only_for_webhooks: 'is only for webhooks',
  excludes_secret: 'and secret exclude each other',
  push_keys_missing: 'the keys of the channel are missing: save its settings again',
  no_sender: 'The channel has no sender with a domain: set it up first',
  test_code: 'is missing: save a code from the "Test events" of Meta first, and remove it after the test',
  google_types: 'is not for google. Google gets the types for which you set a conversion action',
  pending_template: 'cannot be pending: set the template of the confirmation first',
  pending_address: 'cannot be pending: the contact has no email address',

  // Of charts and boards.
  distinct_events: 'must have different events in any order',
  funnel_steps: 'must be a list of {min} to {max} steps',
  series: 'must be a list of 1 to {max} series',
  events: 'must be a list of at most {max} names of events',
  breakdown:
    'must be event, source, stage, country, segment, field: and the key of a custom field, or property: and the path of a property',
  formula: 'must be arithmetic on a and b with + - * / and parentheses, of at most {max} characters',
  formula_of_two: 'needs two series, which are a and b',
  intervals: 'must make at most {max} intervals of the time range',
  a_recipient: 'must name a person',
  recipients: 'must be people of this business',
  query_names: 'must have names of 1 to 64 letters, digits and _',
  no_time_range_of_query: 'must be left out: a query has no time range',
  no_time_range_of_chart: 'must be left out: this chart has no time range',
  beside_days: 'must be left out beside days',
  page_of_business: 'must be a page of the business, such as analytics/funnel?days=7',
  no_parameter: 'is not a parameter of this chart',
  charts_of_board: 'must each be on the board, and be named once',

  // Of imports and spend.
  amount: 'must be a number from 0 to {max}, with at most 4 decimals',
  item_for_each_row: 'must have an item for each row',
  no_field: 'there is no field "{name}"',
  same_spend: 'has the day, channel, source, campaign and currency of spend.{row}',
  mapping: 'must give {fields}',
  rows_up_to: 'has more than {max} rows',
  columns_up_to: 'has more than {max} columns',
  column_or_value: 'column or value is required',

  // Of a statement of SQL.
  slow_statement: 'The statement took longer than {max} seconds. Read less: a shorter time range, fewer rows.',
  large_statement: 'The statement needed more than {max} MiB of memory. Group by less, or read less.',

  // Why a whole request is refused.
  body_up_to: 'The body is too large. Send at most {max} bytes.',
  sql_not_set_up:
    'With your own ClickHouse, SQL needs ANALYST_PASSWORD, and a user of CLICKHOUSE_URL that may create users. Ask your operator.',
  keys_full: 'The business has {max} active keys, which is the maximum. Revoke one first.',
  destinations_full: 'The business has {max} destinations, which is the maximum. Remove one first.',
  views_full: 'A business has at most {max} views. Delete one first.',
  queries_full: 'A business has at most {max} saved queries. Delete one first.',
  boards_full: 'A business has at most {max} boards. Delete one first.',
  charts_full: 'A board has at most {max} charts. Remove one first.',
  segments_full: 'A business has at most {max} segments.',
  conditions_full: 'A business has at most {max} conditions in its segments.',
  templates_full: 'A business has at most {max} templates.',
  campaigns_full: 'The business has {max} campaigns, which is the maximum.',
  versions_full: 'The campaign has had {max} versions, which is the maximum.',
  invitations_full: 'At most {max} invitations can be open.',
  spend_full: 'A business has at most {max} rows of spend. Delete those of earlier days first.',
  tests_a_day: 'A business sends at most {max} test messages in 24 hours.',
  campaign_tests_a_day: 'A business tests campaigns at most {max} times in 24 hours.',
  confirmations_a_day: 'A contact is asked to confirm at most {max} times in 24 hours.',
  backtest_of_campaign: 'A backtest of this campaign is running. Wait for its end, or cancel it.',
  backtests_of_business: 'The business has {max} backtests that are running. Wait for the end of one, or cancel it.',
  used_by: 'It is used by {names}.',
  segment_used_by: 'The segment is used by {names}.',
  campaign_is_draft: 'The campaign is a draft: publish it, or delete it.',
  campaign_is_published: 'The campaign is published: archive it.',
  campaign_is_paused: 'The campaign is paused: archive it.',
  campaign_is_archived: 'The campaign is archived, and changes no more.',
  fields_of_published: '{fields} cannot change once a campaign was published.',
  message_is_settled: 'The message is {state}. Only one whose outcome is unknown can be settled.',
  changed_meanwhile: 'Another person has changed it meanwhile. Read it again.',
  compared_already: 'The stores are being compared already.',
  not_compared: 'The stores are not being compared.',
  other_account: 'Sign in as {email} to accept the invitation.',
  factor_needs_key: 'A second factor needs SECRETS_KEY. Ask your operator to set it.',
  has_factor: 'You have a second factor. Remove it first.',
  no_factor: 'Set up a second factor first.',
  request_gone: 'This request is no longer kept: requests are kept for an hour.',
  delivery_gone: 'This delivery does not exist, was already sent, or is being sent now.',
  no_html: 'This message has no HTML.',
  secret_needs_key: 'A secret cannot be stored without SECRETS_KEY. Ask your operator to set it.',
  sealed_secrets:
    'The secrets of the channel cannot be opened. Ask your operator for the SECRETS_KEY, or set them again.',
  too_much_to_read:
    'The query takes too long or too much memory. Request a shorter time range, fewer events or steps, or no breakdown.',
} as const

export type FaultCode = keyof typeof FAULTS

type Names<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never
export type FaultValue = string | number
/** What the text of a code names. */
export type FaultValues<Code extends FaultCode> = [Names<(typeof FAULTS)[Code]>] extends [never]
  ? []
  : [values: Record<Names<(typeof FAULTS)[Code]>, FaultValue>]

/** Why a call is rejected: `path` names the field (`identity.email`, `tags.3`), `message` states the rule for a person to read. */
export interface Fault {
  path: string
  message: string
  /** Of `FAULTS`. Not there where the message is in the words of another program, such as a server or a renderer. */
  code?: FaultCode
  /** What the text of the code names. */
  values?: Record<string, FaultValue>
}

/** The message is the text of the code, after the path. */
export function faultOf<Code extends FaultCode>(path: string, code: Code, ...[values]: FaultValues<Code>): Fault {
  const text = values === undefined ? FAULTS[code] : fillIn(FAULTS[code], inEnglish(values))
  const message = path === '' ? text : `${path} ${text}`
  return values === undefined ? { path, message, code } : { path, message, code, values }
}

const LIST = new Intl.ListFormat('en-GB')
/** Names of fields stand in `fields` with commas alone, which every language can read. */
const inEnglish = (values: Record<string, FaultValue>): Record<string, FaultValue> =>
  values['fields'] === undefined ? values : { ...values, fields: LIST.format(String(values['fields']).split(', ')) }

/** The same fault at another place. */
export function moveFault(fault: Fault, path: string): Fault {
  const { message } = fault
  const rule = fault.path !== '' && message.startsWith(fault.path) ? message.slice(fault.path.length) : ` ${message}`
  return { ...fault, path, message: `${path}${rule}` }
}

const fillIn = (text: string, values: Record<string, FaultValue>): string =>
  text.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name] ?? ''
    return typeof value === 'number' ? value.toLocaleString('en-US') : value
  })
