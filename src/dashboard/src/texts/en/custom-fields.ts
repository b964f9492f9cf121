export const texts = {
  title: 'Custom fields',
  intro: 'What your events and profiles say about people beyond the standard fields.',
  ofAll: (count: string) =>
    count === '1'
      ? '“Filled” is the share of 1 contact that has a value.'
      : `“Filled” is the share of ${count} contacts that have a value.`,
  ofSample: (count: string) => `“Filled” is the share of a sample of ${count} contacts that have a value.`,
  field: 'Field',
  type: 'Type',
  types: { Number: 'Number', Date: 'Date', Boolean: 'Yes or no', Text: 'Text' },
  filled: 'Filled',
  firstSeen: 'First seen',
  description: 'Description',
  hidden: 'Hidden',
  showHidden: 'Show hidden fields',
  allHidden: 'All fields are hidden',
  emptyTitle: 'No custom fields yet',
  empty:
    'A field appears when an event or an identify call has traits, such as { "plan": "pro" }. Its first value sets its type.',
  hide: 'Hide this field',
  hideHint: 'It is not offered where you choose fields. Its data stays, and new values are still stored.',
  values: 'Values',
  noValues: 'No contact has a value.',
  filledBy: (filled: string, contacts: string) => `${filled} of ${contacts} contacts have a value.`,
  distinct: (count: string) => (count === '1' ? 'One value.' : `${count} different values.`),
  quantiles: ['Minimum', 'Lower quartile', 'Median', 'Upper quartile', 'Maximum'],
  top: 'Most frequent values',
}
