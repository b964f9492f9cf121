import type { IMPORT_FAULTS } from '../../../../../rules/faults/imports.ts'
import type { TextsOf } from '../../error-texts.ts'

export const imports: TextsOf<typeof IMPORT_FAULTS> = {
  amount: 'Muss eine Zahl von 0 bis {max} mit höchstens 4 Dezimalstellen sein',
  item_for_each_row: 'Braucht einen Eintrag für jede Zeile',
  no_field: 'Das Feld „{name}“ gibt es nicht',
  same_spend: 'Hat Tag, Kanal, Quelle, Kampagne und Währung der Zeile spend.{row}',
  mapping: 'Es fehlt die Zuordnung von {fields}',
  rows_up_to: 'Hat mehr als {max} Zeilen',
  columns_up_to: 'Hat mehr als {max} Spalten',
  column_or_value: 'Eine Spalte oder ein Wert ist erforderlich',
  cell_number: '„{sent}“ ist keine einfache Zahl wie 1234.50',
  cell_boolean: '„{sent}“ ist weder true noch false',
  cell_epoch:
    '„{sent}“ liegt als Millisekunden seit 1970 vor 1990 oder nach 2286. Sekunden mal 1000 nehmen; Daten als 2024-01-31T12:00:00 schreiben',
  cell_skipped: '„{sent}“ gibt es in {zone} nicht, weil die Uhren vorgestellt wurden',
  cell_date: '„{sent}“ ist kein Datum',
  row_cells: 'Die Zeile hat {cells} Zellen, die Kopfzeile hat {columns}',
  row_object: 'Die Zeile ist kein JSON-Objekt',
  row_visitor: 'visitorId ist in einem Import nicht erlaubt',
  row_business: 'Die Zeile gehört zu einem anderen Unternehmen als dieser Import ({business})',
  opt_in_object: 'optIn muss ein Objekt mit Kanälen sein',
  opt_in_channel: 'Diesen Kanal gibt es nicht',
  opt_in_date: 'Ja und Nein brauchen occurredAt, den Tag der Wahl',
  future: 'Darf nicht in der Zukunft liegen',
}
