/** Of charts, boards and statements of SQL. */
export const ANALYTICS_FAULTS = {
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

  // Of a statement of SQL.
  slow_statement: 'The statement took longer than {max} seconds. Read less: a shorter time range, fewer rows.',
  large_statement: 'The statement needed more than {max} MiB of memory. Group by less, or read less.',
} as const
