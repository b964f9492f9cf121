import type { ANALYTICS_FAULTS } from '../../../../../rules/faults/analytics.ts'
import type { TextsOf } from '../../error-texts.ts'

export const analytics: TextsOf<typeof ANALYTICS_FAULTS> = {
  distinct_events: 'In beliebiger Reihenfolge müssen die Ereignisse verschieden sein',
  funnel_steps: 'Muss eine Liste von {min} bis {max} Schritten sein',
  series: 'Muss eine Liste von 1 bis {max} Reihen sein',
  events: 'Höchstens {max} Namen von Ereignissen',
  breakdown:
    'Muss event, source, stage, country, segment, field: mit dem Schlüssel eines eigenen Feldes oder property: mit dem Pfad einer Eigenschaft sein',
  formula: 'Muss eine Rechnung mit a und b, + - * / und Klammern sein, mit höchstens {max} Zeichen',
  formula_of_two: 'Braucht zwei Reihen: a und b',
  intervals: 'Darf den Zeitraum in höchstens {max} Abschnitte teilen',
  a_recipient: 'Wählen Sie mindestens eine Person',
  recipients: 'Müssen Personen dieses Unternehmens sein',
  query_names: 'Namen müssen aus 1 bis 64 Buchstaben, Ziffern und _ bestehen',
  no_time_range_of_query: 'Muss fehlen: Eine Abfrage hat keinen Zeitraum',
  no_time_range_of_chart: 'Muss fehlen: Dieses Diagramm hat keinen Zeitraum',
  beside_days: 'Muss fehlen, wenn days angegeben ist',
  page_of_business: 'Muss eine Seite des Unternehmens sein, etwa analytics/funnel?days=7',
  no_parameter: 'Ist kein Parameter dieses Diagramms',
  charts_of_board: 'Jedes Diagramm muss im Board sein und darf nur einmal genannt werden',
  slow_statement:
    'Die Anweisung dauerte länger als {max} Sekunden. Lesen Sie weniger: einen kürzeren Zeitraum, weniger Zeilen.',
  large_statement:
    'Die Anweisung brauchte mehr als {max} MiB Speicher. Gruppieren Sie nach weniger Werten, oder lesen Sie weniger.',
}
